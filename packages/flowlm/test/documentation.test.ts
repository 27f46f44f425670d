import { readFileSync } from 'node:fs'
import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.restoreAllMocks()
})

const fileOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

it('the README shows the example as it is, and the example speaks to the end', async () => {
  const readme = fileOf('README.md')
  expect(readme).toContain(`\`\`\`ts\n${fileOf('examples/speak-latents.ts')}\`\`\``)

  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => {
    lines.push(line)
  })
  await import('../examples/speak-latents.ts')
  const [, frames] = /^(\d+) frames of 32 values, \d\.\d\d s of speech$/.exec(lines.join('\n')) ?? []
  // Four words take a second or two; 100 frames would mean that the end of speech was never found.
  expect(Number(frames)).toBeGreaterThan(10)
  expect(Number(frames)).toBeLessThan(50)
})
