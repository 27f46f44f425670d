import { readFileSync } from 'node:fs'
// Names a driver to the example where nobody else has.
import '@tooling/fixtures/gpu'
import { afterEach, expect, it, vi } from 'vitest'

const textOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

afterEach(() => {
  vi.restoreAllMocks()
})

it.each(['feed-forward', 'tune'])('%s runs, and prints what README.md says', async (name) => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => {
    lines.push(line)
  })
  await import(`../examples/${name}.ts`)
  const readme = textOf('README.md')
  expect(readme).toContain(`\`\`\`ts\n${textOf(`examples/${name}.ts`)}\`\`\``)
  expect(readme).toContain(`\`\`\`text\n${lines.join('\n')}\n\`\`\``)
})
