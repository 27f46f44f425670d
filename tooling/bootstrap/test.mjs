// npm test: installs and builds, then every check and every test. The last line says how many passed and failed.
import { dirname, join } from 'node:path'
import process from 'node:process'
import { buildAll, install } from './src/prepare.mjs'
import { pnpm, runQuietly, StepFailed, step } from './src/processes.mjs'
import { builtReport, failure, forgetReport, readReport, sourceReport, sum } from './src/reports.mjs'
import { readWorkspace, root } from './src/workspace.mjs'

/** @typedef {import('./src/reports.mjs').Summary} Summary */
/** @typedef {import('./src/workspace.mjs').WorkspacePackage} WorkspacePackage */

/**
 * A step whose failure is counted and does not stop the others.
 * @param {string} title
 * @param {() => Promise<{ ok: boolean, output: string }>} work
 * @returns {Promise<Summary>}
 */
const check = async (title, work) => {
  try {
    await step(title, work)
    return sum([])
  } catch (error) {
    if (error instanceof StepFailed) return failure(title)
    throw error
  }
}

/** @returns {Promise<Summary>} */
const checks = async () =>
  sum([
    await check('Checking format and lint', () => runQuietly('biome', ['check', '--error-on-warnings', '.'])),
    await check('Checking layers', () => pnpm('run', 'layers')),
    await check('Checking that nothing is unused', () => pnpm('run', 'unused')),
    await check('Checking types', () =>
      pnpm('exec', 'turbo', 'run', 'typecheck', '--continue=always', '--output-logs=errors-only'),
    ),
  ])

/**
 * Runs suites, prints the counts of each, and sums their reports.
 * @param {string} title
 * @param {WorkspacePackage[]} suites
 * @param {string} reportFile
 * @returns {Promise<Summary>}
 */
const runSuites = async (title, suites, reportFile) => {
  for (const { folder } of suites) forgetReport(folder, reportFile)
  const filters = suites.map(({ name }) => `--filter=${name}`)
  const args = ['--continue=always', '--concurrency=2', '--output-logs=errors-only', ...filters]
  const run = await check(title, () => pnpm('exec', 'turbo', 'run', 'test', ...args))
  const reports = suites.map(({ name: suite, folder }) => {
    const name = reportFile === builtReport ? `${suite} (built)` : suite
    return { name, ...readReport(name, folder, reportFile) }
  })
  for (const { name, passed, failed, skipped } of reports) {
    console.log(`  ${name.padEnd(30)} ${passed} passed, ${failed.length} failed, ${skipped.length} skipped`)
  }
  const summary = sum(reports)
  // The runner's own verdict counts only where no report explains it.
  return summary.failed.length > 0 ? summary : sum([summary, run])
}

/** @returns {Promise<Summary>} */
const tests = async () => {
  const suites = readWorkspace().filter(({ scripts }) => scripts.test)
  const published = suites.filter(({ folder }) => dirname(folder) === join(root, 'packages'))
  delete process.env.TEST_BUILT
  const onSources = await runSuites('Running tests', suites, sourceReport)
  process.env.TEST_BUILT = '1'
  return sum([onSources, await runSuites('Running tests on built packages', published, builtReport)])
}

/**
 * @param {string} title
 * @param {string[]} lines
 */
const list = (title, lines) => {
  if (lines.length > 0) console.log(`\n${title}:\n  ${lines.join('\n  ')}`)
}

/**
 * Prints what did not pass, then the one line, and gives the exit code.
 * @param {Summary} summary
 */
const conclude = ({ passed, failed, skipped }) => {
  const mayNotSkip = process.env.CI === 'true'
  list(mayNotSkip ? 'Skipped, which is a failure where CI=true' : 'Skipped', skipped)
  list('Failed', failed)
  const failures = failed.length + (mayNotSkip ? skipped.length : 0)
  console.log(`\n${passed} passed, ${failures} failed`)
  return failures === 0 && passed > 0 ? 0 : 1
}

try {
  await install()
  await buildAll()
  process.exitCode = conclude(sum([await checks(), await tests()]))
} catch (error) {
  if (!(error instanceof StepFailed)) throw error
  process.exitCode = conclude(failure(error.message))
}
