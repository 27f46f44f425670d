import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { entriesOf, libraries } from '../src/published.ts'
import { typecheck } from '../src/typecheck.ts'

const project = inject('esmProject')
const entries = entriesOf(libraries)

const compile = async (platform: 'node' | 'browser', imported: readonly string[]): Promise<string> => {
  const lines = imported.map((entry, index) => `export * as entry${index} from '${entry}'`)
  const file = `${platform}-entries.ts`
  writeFileSync(join(project, file), lines.join('\n'))
  return typecheck(project, platform, [file, 'typed.ts'])
}

// A compiler's start takes long on a busy machine.
describe('a TypeScript project', { timeout: 180_000 }, () => {
  it('compiles for Node, the declarations of every entry with it', async () => {
    expect(await compile('node', entries)).toBe('')
  })

  it('compiles for browsers, the declarations of every entry that is made for them with it', async () => {
    expect(
      await compile(
        'browser',
        entries.filter((entry) => !entry.endsWith('/node')),
      ),
    ).toBe('')
  })

  it('is refused where it is wrong', async () => {
    writeFileSync(join(project, 'wrong.ts'), "import { PocketTts } from '@pocket/tts'\nPocketTts.load(1)\n")
    await expect(typecheck(project, 'node', ['wrong.ts'])).rejects.toThrow(/wrong\.ts\(2,16\): error TS2345/)
  })
})
