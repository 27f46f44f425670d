import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { failure, forgetReport, readReport, sum } from '../src/reports.mjs'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reports-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const test = (status: string, fullName: string, meta = {}) => ({ status, fullName, meta })
const write = (report: unknown) =>
  writeFileSync(
    join(folder, 'test-report.json'),
    typeof report === 'string' ? report : JSON.stringify(report),
  )
const file = (assertionResults: unknown[], more = {}) => ({
  name: join(folder, 'test/a.test.ts'),
  status: 'passed',
  message: '',
  assertionResults,
  ...more,
})

describe('readReport', () => {
  it('counts what passed, and names what failed and what was skipped with its reason', () => {
    write({
      success: false,
      testResults: [
        file([test('passed', 'adds'), test('failed', 'divides')], { status: 'failed' }),
        file([
          test('skipped', 'draws', { reason: 'no display' }),
          test('todo', 'sings'),
          test('passed', 'walks'),
        ]),
      ],
    })
    expect(readReport('p', folder)).toEqual({
      passed: 2,
      failed: ['p test/a.test.ts: divides'],
      skipped: ['p test/a.test.ts: draws (no display)', 'p test/a.test.ts: sings'],
    })
  })

  it('counts a test file that could not be loaded as one failure', () => {
    write({ success: false, testResults: [file([], { status: 'failed', message: 'no such module' })] })
    expect(readReport('p', folder)).toEqual(failure('p test/a.test.ts: no such module'))
  })

  it('counts an error outside of any test', () => {
    write({ success: false, testResults: [file([test('passed', 'adds')])] })
    expect(readReport('p', folder)).toEqual({ passed: 1, failed: ['p: the test run failed'], skipped: [] })
  })

  it.each([
    ['nothing ran', { success: true, testResults: [] }, 'p: the test run found no tests'],
    ['the report is torn', '{"success": tr', 'p: the test run left a report that cannot be read'],
  ])('fails where %s', (_title, report, message) => {
    write(report)
    expect(readReport('p', folder)).toEqual(failure(message))
  })

  it('never counts a report of an earlier run', () => {
    write({ success: true, testResults: [file([test('passed', 'adds')])] })
    forgetReport(folder)
    expect(readReport('p', folder)).toEqual(failure('p: the test run left no report'))
  })
})

it('sums reports', () => {
  expect(sum([{ passed: 2, failed: [], skipped: ['s'] }, failure('f'), sum([])])).toEqual({
    passed: 2,
    failed: ['f'],
    skipped: ['s'],
  })
})
