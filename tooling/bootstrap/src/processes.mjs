import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { root } from './workspace.mjs'

const environment = () => ({
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  TURBO_TELEMETRY_DISABLED: '1',
  NO_UPDATE_NOTIFIER: '1',
})

/**
 * Runs a command in the root folder and keeps what it prints.
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export const runQuietly = (command, args) =>
  new Promise((resolve) => {
    let output = ''
    // Windows finds npx.cmd and the .cmd files of node_modules/.bin only through its shell.
    const child = spawn(command, args, {
      cwd: root,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    const keep = (/** @type {Buffer} */ chunk) => {
      output += chunk
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', (error) => resolve({ ok: false, output: `${command}: ${error.message}` }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })

/**
 * Runs a program with this process's own terminal and gives its exit code.
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 * @returns {Promise<number>}
 */
export const runAttached = (command, args, cwd) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: 'inherit' })
    // Ctrl-C reaches the child from the terminal; this process stays to hand on its exit code.
    process.on('SIGINT', () => {})
    process.on('SIGTERM', () => child.kill('SIGTERM'))
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)))
  })

/**
 * pnpm, fetched by npx where the machine has none. What was fetched once is not asked for again: each question to the
 * registry is one that may not be answered.
 * @param {string[]} args
 */
export const pnpm = (...args) => runQuietly('npx', ['--prefer-offline', '-y', 'pnpm@12', ...args])

/** A step failed whose output has been printed already. */
export class StepFailed extends Error {}

/**
 * Announces a step on one line, then says how long it took; a failed step prints all it said.
 * @param {string} title
 * @param {() => Promise<{ ok: boolean, output: string }>} work
 */
export const step = async (title, work) => {
  const start = performance.now()
  process.stderr.write(`${title} … `)
  const { ok, output } = await work()
  process.stderr.write(`${ok ? 'done' : 'FAILED'} (${((performance.now() - start) / 1000).toFixed(1)} s)\n`)
  if (ok) return
  process.stderr.write(`\n${output.trim()}\n\n`)
  throw new StepFailed(title)
}
