import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

const fileOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

const home = process.cwd()
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'examples-'))
  process.chdir(folder)
})
afterAll(async () => {
  process.chdir(home)
  await rm(folder, { recursive: true })
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** What an example prints, numbers with a decimal point left out: they differ with the kernels' level. */
const outputOf = async (name: string): Promise<string> => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => {
    lines.push(line)
  })
  await import(`../examples/${name}.ts`)
  return lines.join('\n')
}

test('backends runs, and says what computes', async () => {
  expect(fileOf('README.md')).toContain(`\`\`\`ts\n${fileOf('examples/backends.ts')}\`\`\`\n`)
  expect(await outputOf('backends')).toMatch(/^computes on (the CPU: )?\S/)
})

const blank = (text: string): string => text.replace(/\d+\.\d+/g, '#')

test.for([
  ...['speak', 'stream', 'voices', 'cancel'].map((name) => ({ name, document: 'README.md' })),
  ...['off-thread', 'respond', 'serve', 'write-file'].map((name) => ({
    name,
    document: 'docs/streaming.md',
  })),
])('$name runs, and prints what $document says', async ({ name, document }) => {
  const page = fileOf(document)
  const code = `\`\`\`ts\n${fileOf(`examples/${name}.ts`)}\`\`\`\n\n\`\`\`text\n`
  expect(page).toContain(code)
  const [output] = page.slice(page.indexOf(code) + code.length).split('\n```')
  expect(blank(await outputOf(name))).toBe(blank(output ?? ''))
})
