import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Program } from './programs.ts'

const run = promisify(execFile)

// Below this package, so that imports find the packages, as they are built, in its node_modules.
const build = fileURLToPath(new URL('../build/', import.meta.url))
// Programs for a GPU run on the processor, by the driver that Debian's Chromium brings, where no other is named.
const env = { VK_DRIVER_FILES: '/usr/lib/chromium/vk_swiftshader_icd.json', ...process.env }
const model = fileURLToPath(new URL('model', import.meta.resolve('@pocket/mini/package.json')))

/**
 * Runs a program as a reader would: with Node, on the built packages, in a folder that holds the files of a model.
 * Gives what it printed; rejects where it fails.
 */
export const runProgram = async ({ readme, number, source }: Program): Promise<string> => {
  mkdirSync(build, { recursive: true })
  const file = join(build, `${readme.replace(/[\\/]/g, '-').replace('.md', '')}-${number}.ts`)
  writeFileSync(file, source)
  const folder = mkdtempSync(join(tmpdir(), 'readme-'))
  try {
    cpSync(model, folder, { recursive: true })
    const { stdout } = await run(process.execPath, [file], { cwd: folder, env, timeout: 120_000 })
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}
