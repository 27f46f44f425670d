import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'

const binary = fileURLToPath(new URL('../dist/launch.cjs', import.meta.url))
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** Starts the built command `pocket-server`. */
const start = (args: string[], env: Record<string, string> = {}) => {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run \`pnpm build\` first`)
  const child = spawn(process.execPath, [binary, ...args], { env: { ...process.env, ...env }, stdio: 'pipe' })
  children.push(child)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...output }))
  })
  /** Where it listens, by its own log. */
  const listening = async (): Promise<string> => {
    for (;;) {
      const url = /"url":"([^"]+)"/.exec(output.stdout)?.[1]
      if (url) return url
      if (child.exitCode !== null) throw new Error(output.stderr)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return { child, ended, listening }
}

const speak = (url: string, input: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'tts-1', voice: 'alloy', input, response_format: 'wav' }),
  })

describe('pocket-server', () => {
  it('explains itself', async () => {
    const { code, stdout } = await start(['--help']).ended
    expect(code).toBe(0)
    expect(stdout).toContain('--max-text <number>')
    expect(stdout).toContain('POCKET_MAX_TEXT')
    expect(stdout).toContain('curl http://127.0.0.1:8000/v1/audio/speech')
  })

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['an unknown flag', ['--colour'], {}, /unknown option '--colour'/],
    ['a port that is a word', ['--port', 'http'], {}, /It must be a number/],
    ['a port beyond all', [], { POCKET_PORT: '70000' }, /port: .*65535/],
    ['an alias without a voice', ['--voice-alias', 'nova'], {}, /must look like nova=slt/],
    ['a voice that is not there', ['--default-voice', 'nobody', '--port', '0'], {}, /no voice 'nobody'/],
    ['a model that is not there', ['--model', '/nowhere'], {}, /\/nowhere/],
    ['more threads than there can be', ['--threads', '65'], {}, /threads is 65/],
    ['a backend that is none', ['--backend', 'tpu'], {}, /Allowed choices are auto, cpu, hybrid, gpu\./],
    [
      'a precision that is none',
      [],
      { POCKET_PRECISION: 'int4' },
      /Allowed choices are stored, int8, bf16, f32\./,
    ],
    ['two precisions', ['--quantize', '--precision', 'f32'], {}, /cannot be used with option '--precision/],
    ['integers on a GPU', ['--codec-precision', 'int16', '--backend', 'gpu'], {}, /use backend cpu/],
    ['lanes that are none', ['--lanes', '0'], {}, /lanes is 0/],
    ['an empty key', [], { POCKET_API_KEY: '' }, /apiKey/],
    ['a key file that is not there', ['--api-key-file', '/nowhere'], {}, /apiKeyFile/],
  ])('refuses %s, with exit code 2', async (_title, args, env, message) => {
    const { code, stdout, stderr } = await start(args, env).ended
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^pocket-server: /)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n {4}at /)
  })

  it('takes its key from a file, speaks to who has it, and ends by SIGTERM when all is said', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'key-'))
    try {
      const file = join(folder, 'key')
      writeFileSync(file, 'secret\n')
      const { child, ended, listening } = start(['--port', '0', '--api-key-file', file, '--quantize'])
      const url = await listening()
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect((await speak(url, 'Hello.')).status).toBe(401)
      const response = await speak(url, 'Good morning, everybody.', { authorization: 'Bearer secret' })
      child.kill('SIGTERM')
      const bytes = (await response.arrayBuffer()).byteLength
      expect((bytes - 44) % (2 * 1920)).toBe(0)
      expect(bytes).toBeGreaterThan(30_000)
      expect(await ended).toMatchObject({ code: 0, stderr: '' })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('does not wait after a second signal', async () => {
    const { child, ended, listening } = start(['--port', '0'])
    const url = await listening()
    const input = 'The old man sat by the window and read his newspaper. '.repeat(70)
    const response = await speak(url, input)
    child.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(child.exitCode).toBeNull()
    child.kill('SIGINT')
    await expect(response.arrayBuffer()).rejects.toThrow()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('ends by SIGTERM while it is still loading', async () => {
    const { child, ended } = start(['--port', '0'])
    await new Promise((resolve) => child.once('spawn', resolve))
    await new Promise((resolve) => setTimeout(resolve, 300))
    child.kill('SIGTERM')
    const { code, stderr } = await ended
    // A signal that comes before the program can listen to it ends the process itself.
    expect([0, null]).toContain(code)
    expect(stderr).toBe('')
  })
})
