import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll } from 'vitest'

const script = fileURLToPath(new URL('download-child.ts', import.meta.url))

export interface DownloadProcess {
  readonly child: ChildProcess
  /** What it wrote and how it ended. */
  readonly ended: Promise<{ output: string; errors: string; code: number | null; signal: string | null }>
}

/** Compiled sources, so that twenty processes start three times as fast. Only one that ends by itself writes them. */
let compileCache = ''

export const useSpawnedDownloads = (): void => {
  beforeAll(async () => {
    compileCache = mkdtempSync(join(tmpdir(), 'pocket-compiled-'))
    await spawnDownload('http://localhost', compileCache, '').ended
  })
  afterAll(() => rmSync(compileCache, { recursive: true, force: true }))
}

/** Fetches a file in a process of its own, which knows no variable of whoever runs the tests. */
export const spawnDownload = (endpoint: string, cacheDir: string, place: string): DownloadProcess => {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, endpoint, cacheDir, place],
    { env: { NODE_COMPILE_CACHE: compileCache } },
  )
  let output = ''
  let errors = ''
  child.stdout.on('data', (piece) => {
    output += piece
  })
  child.stderr.on('data', (piece) => {
    errors += piece
  })
  const ended = new Promise<Awaited<DownloadProcess['ended']>>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ output, errors, code, signal }))
  })
  return { child, ended }
}
