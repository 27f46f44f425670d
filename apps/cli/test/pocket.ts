import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const binary = fileURLToPath(new URL('../dist/launch.cjs', import.meta.url))

export interface Run {
  code: number | null
  stdout: Buffer
  stderr: string
}

/** Starts the built command `pocket`. */
export const start = (args: string[], cwd: string, env: Record<string, string> = {}): ChildProcess => {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run \`pnpm build\` first`)
  return spawn(process.execPath, [binary, ...args], { cwd, env: { ...process.env, ...env }, stdio: 'pipe' })
}

/** Waits for the end of a command and gives what it printed. */
export const finished = (child: ChildProcess): Promise<Run> =>
  new Promise((resolve, reject) => {
    const stdout: Buffer[] = []
    let stderr = ''
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(stdout), stderr }))
  })

/** Runs the built command `pocket` to its end. */
export const pocket = (args: string[], cwd: string, input: string | Uint8Array = ''): Promise<Run> => {
  const child = start(args, cwd)
  child.stdin?.end(input)
  return finished(child)
}

/** The samples of a WAV file or stream, and what its header says of their number. */
export const parseWav = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to))
  return {
    magic: [text(0, 4), text(8, 16), text(36, 40)],
    riffBytes: view.getUint32(4, true),
    channels: view.getUint16(22, true),
    sampleRate: view.getUint32(24, true),
    bits: view.getUint16(34, true),
    dataBytes: view.getUint32(40, true),
    data: Buffer.from(bytes.subarray(44)),
    seconds: (bytes.length - 44) / 2 / 24000,
  }
}
