import { PassThrough, Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { run } from '../src/run.ts'
import { useFolder } from './folder.ts'
import { speech, writeRecording } from './recordings.ts'

const folder = useFolder()

/** Runs a command in this process, on a terminal that is not there. */
const onTerminal = async (...args: string[]) => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true })
  const [stdout, stderr] = [terminal(), terminal()]
  const { signal } = new AbortController()
  const code = await run(args, { stdin: Readable.from([]), stdout, stderr, env: {}, signal })
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}

describe('on a terminal', () => {
  it('shows one line of progress, which is gone at the end', async () => {
    const { code, stdout, stderr } = await onTerminal('generate', 'Hello.', '-o', `${folder.path}/x.wav`)
    expect(code).toBe(0)
    expect(stderr).toMatch(/Speaking: \d+ frames, \d\.\d\d s, \d+\.\d × real time/)
    expect(stderr).not.toContain('\n')
    expect(stderr.endsWith('\r\x1b[K')).toBe(true)
    expect(stdout).toMatch(/x\.wav: \d\.\d\d s of speech/)
  })

  it('shows how far a recording is, and what is heard of it', async () => {
    writeRecording(`${folder.path}/in.wav`, speech)
    const latents = `${folder.path}/x.safetensors`
    const encoded = await onTerminal('encode', `${folder.path}/in.wav`, '-o', latents)
    expect(encoded).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Encoding: \d\.\d\d s \(\d+ %\), /),
    })
    const decoded = await onTerminal('decode', latents, '-o', `${folder.path}/out.wav`)
    expect(decoded).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Decoding: \d\.\d\d s \(\d+ %\), /),
    })
    const exported = await onTerminal('export-voice', `${folder.path}/in.wav`, `${folder.path}/v.safetensors`)
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining('Listening to 1.67 s of') })
    expect(exported.stderr.endsWith('\r\x1b[K')).toBe(true)
  })

  it('shows none with --quiet', async () => {
    const output = `${folder.path}/x.wav`
    expect(await onTerminal('generate', 'Hello.', '-q', '-o', output)).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
  })

  it('refuses to print sound', async () => {
    const { code, stdout, stderr } = await onTerminal('generate', 'Hello.', '-o', '-')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^pocket: standard output is a terminal/)
  })

  it('marks the default voice', async () => {
    const { code, stdout, stderr } = await onTerminal('voices')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'awb\nrms (default)\nslt\n' })
    expect(stderr.endsWith('\r\x1b[K')).toBe(true)
  })
})
