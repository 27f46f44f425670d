import { PassThrough } from 'node:stream'
import { slowly } from '@tooling/fixtures/hub'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createDownloadLine } from '../src/download-line.ts'
import { Interrupted } from '../src/errors.ts'
import { run } from '../src/run.ts'
import { french, useHub } from './hub.ts'

const hub = useHub()
beforeEach(() => {
  hub.publishFrench()
  for (const [name, value] of Object.entries(hub.environment())) vi.stubEnv(name, value)
  return () => vi.unstubAllEnvs()
})

/** Runs a command in this process, on a terminal that is not there; `answer` is typed. */
const onTerminal = async (args: string[], { answer, stopAt }: { answer?: string; stopAt?: RegExp } = {}) => {
  const [stdin, stdout] = [1, 2].map(() => Object.assign(new PassThrough(), { isTTY: true })) as [Tty, Tty]
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 100 })
  if (answer !== undefined) stdin.end(answer)
  const stop = new AbortController()
  let shown = ''
  stderr.on('data', (piece) => {
    shown += piece
    if (stopAt?.test(shown)) stop.abort(new Interrupted('SIGINT'))
  })
  const code = await run(args, { stdin, stdout, stderr, env: {}, signal: stop.signal })
  return { code, stdout: String(stdout.read() ?? ''), stderr: shown }
}
type Tty = PassThrough & { isTTY: boolean }

describe('a download on a terminal', () => {
  it('shows bytes, rate and time left, and when it goes on where it broke off', async () => {
    hub.server.always = slowly(20_000, 20)
    const first = await onTerminal(['models', 'download', french.id], { stopAt: /\([1-9]\d %/ })
    expect(first.code).toBe(130)
    expect(first.stderr).toMatch(
      /Downloading model\.safetensors: \S+ [kM]B of 2\.4 MB \(\d+ %\), \S+ [kM]B\/s, \d+ s left/,
    )
    expect(first.stderr).not.toContain('resumed')
    const second = await onTerminal(['models', 'download', french.id])
    expect(second.code).toBe(0)
    expect(second.stderr).toMatch(/Downloading model\.safetensors: .*, resumed at \S+ [kM]B/)
    const lines = second.stderr.split('\r\x1b[K').filter((line) => line.startsWith('Downloading'))
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) expect(line.length).toBeLessThan(100)
    expect(second.stderr.endsWith('\r\x1b[K')).toBe(true)
  })
})

describe('a line of a download', () => {
  const file = 'hf://kyutai/pocket-tts/languages/german/model.safetensors@main'

  it.each([
    [{ loadedBytes: 0, totalBytes: 225e6 }, '0 bytes of 225.0 MB (0 %)'],
    [
      { loadedBytes: 45e6, totalBytes: 225e6, bytesPerSecond: 10e6 },
      '45.0 MB of 225.0 MB (20 %), 10.0 MB/s, 18 s left, resumed at 45.0 MB',
    ],
    [
      { loadedBytes: 0, totalBytes: 225e6, bytesPerSecond: 1e6 },
      '0 bytes of 225.0 MB (0 %), 1.0 MB/s, 3 min 45 s left',
    ],
    [
      { loadedBytes: 0, totalBytes: 1.5e9, bytesPerSecond: 1e5 },
      '0 bytes of 1.50 GB (0 %), 100.0 kB/s, 4 h 10 min left',
    ],
    [
      { loadedBytes: 999, totalBytes: undefined, bytesPerSecond: 1 },
      '999 bytes, 1 byte/s, resumed at 999 bytes',
    ],
  ])('of %o', (progress, text) => {
    expect(createDownloadLine()({ file, ...progress })).toBe(`Downloading model.safetensors: ${text}`)
  })

  it('remembers for each file where it began', () => {
    const line = createDownloadLine()
    expect(line({ file, loadedBytes: 5, totalBytes: 9 })).toContain('resumed at 5 bytes')
    expect(line({ file, loadedBytes: 8, totalBytes: 9 })).toContain('resumed at 5 bytes')
    // It was damaged, and begins anew.
    expect(line({ file, loadedBytes: 0, totalBytes: 9 })).not.toContain('resumed')
    expect(line({ loadedBytes: 0, totalBytes: 9 })).toBe('Downloading the model: 0 bytes of 9 bytes (0 %)')
  })
})

describe('pocket models remove', () => {
  beforeEach(async () => {
    expect((await onTerminal(['models', 'download', french.id])).code).toBe(0)
  })

  it.each([
    ['y\n', 'Remove 3 files and free 2.8 MB? [y/N] 3 files removed, 2.8 MB freed\n', 0],
    ['no\n', 'Remove 3 files and free 2.8 MB? [y/N] nothing was removed\n', 3],
    ['', 'Remove 3 files and free 2.8 MB? [y/N] nothing was removed\n', 3],
  ])('asks, and hears %j', async (answer, text, left) => {
    const { code, stdout } = await onTerminal(['models', 'remove', french.id], { answer })
    expect(code).toBe(0)
    expect(stdout.endsWith(text)).toBe(true)
    expect(hub.blobs()).toHaveLength(left)
  })
})
