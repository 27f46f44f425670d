import { readFileSync } from 'node:fs'
// Names a driver to the example where nobody else has.
import '@tooling/fixtures/gpu'
import { afterEach, expect, it, vi } from 'vitest'

const textOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

afterEach(() => {
  vi.restoreAllMocks()
})

it('the example of the README is the one in examples/, and prints what the README says', async () => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => {
    lines.push(line)
  })
  await import('../examples/feed-forward.ts')
  const readme = textOf('README.md')
  expect(readme).toContain(`\`\`\`ts\n${textOf('examples/feed-forward.ts')}\`\`\``)
  expect(readme).toContain(`\`\`\`text\n${lines.join('\n')}\n\`\`\``)
})
