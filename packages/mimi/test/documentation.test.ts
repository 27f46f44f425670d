import { readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.restoreAllMocks()
})

const fileOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

/** What an example prints. */
const outputOf = async (name: string): Promise<string> => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line) => {
    lines.push(line)
  })
  await import(`../examples/${name}.ts`)
  return lines.join('\n')
}

const outputs: Record<string, string> = {
  'round-trip': '24000 samples -> 13 x 32 latents -> 24960 samples\n400 numbers a second in place of 24000',
  microphone: '13 frames of 80 ms went through',
}

test.for(Object.entries(outputs))(
  '%s prints what the README says, from the code it shows',
  async ([name, output]) => {
    const readme = fileOf('README.md')
    expect(readme).toContain(`\`\`\`ts\n${fileOf(`examples/${name}.ts`)}\`\`\``)
    expect(readme).toContain(`\`\`\`text\n${output}\n\`\`\``)
    expect(await outputOf(name)).toBe(output)
  },
)
