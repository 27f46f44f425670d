import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const packageFolder = fileURLToPath(new URL('../..', import.meta.url))
const inlineWasm = new URL('../../src/worker/sources/inline-wasm.ts', import.meta.url).href
const options = process.env.TEST_BUILT ? [] : ['--conditions=@pocket/source', `--import=${inlineWasm}`]

/** Runs a module in a process of its own, which imports this package and its siblings by name. */
export const startModule = (code: string, ...args: string[]): ChildProcess =>
  spawn(process.execPath, [...options, '--input-type=module', '--eval', code, '--', ...args], {
    cwd: packageFolder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Waits for the end; gives what was printed. */
export const endOf = (
  child: ChildProcess,
): Promise<{ code: number | null; signal: string | null; output: string }> =>
  new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, output }))
  })
