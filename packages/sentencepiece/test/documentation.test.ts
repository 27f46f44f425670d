import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readFixture } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const packageFile = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const readme = readFileSync(packageFile('README.md'), 'utf8')

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sentencepiece-'))
  writeFileSync(join(folder, 'tokenizer.model'), readFixture('tokenizer/sp4000.model'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs an example as a user would, in a folder that holds a `tokenizer.model`. */
const run = (example: string): string[] => {
  const conditions = process.env.TEST_BUILT ? [] : ['--conditions=@pocket/source']
  const script = packageFile(`examples/${example}.ts`)
  const { stdout, stderr, status } = spawnSync(process.execPath, [...conditions, script], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return stdout.trimEnd().split('\n')
}

describe('examples', () => {
  it.each(['quick-start', 'spans'])('the README shows %s as it is', (example) => {
    const source = readFileSync(packageFile(`examples/${example}.ts`), 'utf8')
    expect(readme).toContain(`\`\`\`ts\n${source}\`\`\``)
  })

  it('quick-start prints ids, pieces and the text', () => {
    const output = run('quick-start')
    expect(output.at(-2)).toBe('▁He llo ▁from ▁my ▁po ck et . ▁ <0xF0> <0x9F> <0x98> <0x80>')
    expect(output.at(-1)).toBe('Hello from my pocket. 😀')
  })

  it('spans prints the part of the text behind each token', () => {
    const output = run('spans')
    expect(output).toContain('▁v 4 6 " v"')
    expect(output.at(-1)).toBe('<0x80> 8 10 "😀"')
  })
})
