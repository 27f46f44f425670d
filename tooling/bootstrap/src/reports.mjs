import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * @typedef {object} Summary what one or more test reports say
 * @property {number} passed
 * @property {string[]} failed one line for each failure
 * @property {string[]} skipped one line for each test that did not run, with its reason where it gives one
 */

/** The names that the runner gives its reports: of tests on sources, and of the same tests on what is published. */
export const sourceReport = 'test-report.json'
export const builtReport = 'test-report.built.json'

/**
 * Removes an earlier run's report, so that nothing but this run can be counted.
 * @param {string} folder
 * @param {string} [reportFile]
 */
export const forgetReport = (folder, reportFile = sourceReport) =>
  rmSync(join(folder, reportFile), { force: true })

/**
 * Reads the JSON report that vitest left in a package's folder. A missing or torn report is a failure, and so
 * is a test file that could not be loaded: its tests are not in the report at all.
 * @param {string} name
 * @param {string} folder
 * @param {string} [reportFile]
 * @returns {Summary}
 */
export const readReport = (name, folder, reportFile = sourceReport) => {
  const path = join(folder, reportFile)
  if (!existsSync(path)) return failure(`${name}: the test run left no report`)
  let report
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return failure(`${name}: the test run left a report that cannot be read`)
  }
  /** @type {Summary[]} */
  const files = report.testResults.map((/** @type {any} */ file) => readFile(name, folder, file))
  const summary = sum(files)
  if (summary.passed + summary.failed.length + summary.skipped.length === 0) {
    return failure(`${name}: the test run found no tests`)
  }
  if (!report.success && summary.failed.length === 0) summary.failed.push(`${name}: the test run failed`)
  return summary
}

/**
 * @param {string} name
 * @param {string} folder
 * @param {any} file an entry of `testResults`
 * @returns {Summary}
 */
const readFile = (name, folder, file) => {
  const label = `${name} ${relative(folder, file.name)}`
  /** @type {Summary} */
  const summary = { passed: 0, failed: [], skipped: [] }
  for (const { status, fullName, meta } of file.assertionResults) {
    if (status === 'passed') summary.passed++
    else if (status === 'failed') summary.failed.push(`${label}: ${fullName}`)
    else summary.skipped.push(`${label}: ${fullName}${meta?.reason ? ` (${meta.reason})` : ''}`)
  }
  if (file.status === 'failed' && summary.failed.length === 0) {
    summary.failed.push(`${label}: ${file.message || 'could not be run'}`)
  }
  return summary
}

/**
 * @param {string} line
 * @returns {Summary}
 */
export const failure = (line) => ({ passed: 0, failed: [line], skipped: [] })

/**
 * @param {Summary[]} summaries
 * @returns {Summary}
 */
export const sum = (summaries) => ({
  passed: summaries.reduce((total, { passed }) => total + passed, 0),
  failed: summaries.flatMap(({ failed }) => failed),
  skipped: summaries.flatMap(({ skipped }) => skipped),
})
