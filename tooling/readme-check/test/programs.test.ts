import { describe, expect, it } from 'vitest'
import { programsOf } from '../src/programs.ts'
import { runProgram } from '../src/run-program.ts'
import { examples, programs } from '../src/workspace.ts'

describe('programsOf', () => {
  it('finds the blocks that import something, and no others', () => {
    const text = [
      '```ts',
      "import { a } from 'a'",
      'a()',
      '```',
      'Text.',
      '```ts',
      'const important: number',
      '```',
      '```sh',
      'import x.png',
      '```',
      '```ts',
      "import 'b'",
      '```',
    ].join('\n')
    expect(programsOf('README.md', text).map(({ number, source }) => [number, source])).toEqual([
      [1, "import { a } from 'a'\na()\n"],
      [2, "import 'b'\n"],
    ])
  })
})

it('finds programs in the READMEs', () => {
  expect(programs.map(({ readme }) => readme)).toEqual(
    expect.arrayContaining(['README.md', 'packages/mini/README.md', 'packages/sentencepiece/README.md']),
  )
})

describe.each(programs)('$readme, program $number', (program) => {
  it('is one of the examples', () => {
    expect([...examples.values()]).toContain(program.source)
  })

  it('runs on the built packages', async () => {
    expect(await runProgram(program)).not.toBe('')
  }, 130_000)
})
