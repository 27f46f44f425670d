import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildInputs, buildOutputs, readStamp, stampFile, writeStamp } from '../src/fingerprint.mjs'

let folder: string
const write = (name: string, content: string) => {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), content)
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fingerprint-'))
  write('package.json', '{}')
  write('src/index.ts', 'export {}')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('buildInputs', () => {
  it.each([
    ['a changed source', () => write('src/index.ts', 'export { }')],
    ['a new source', () => write('src/deep/new.ts', '')],
    ['a removed source', () => rmSync(join(folder, 'src/index.ts'))],
    ['a changed manifest', () => write('package.json', '{ }')],
    [
      'content that moves to another name',
      () => {
        rmSync(join(folder, 'src/index.ts'))
        write('src/main.ts', 'export {}')
      },
    ],
  ])('notices %s', (_title, change) => {
    const before = buildInputs(folder)
    change()
    expect(buildInputs(folder)).not.toBe(before)
  })

  it.each([
    ['tests', () => write('test/index.test.ts', '')],
    ['documents', () => write('README.md', '')],
    ['its own output', () => write('dist/index.js', '')],
    ['the time of a file', () => utimesSync(join(folder, 'src/index.ts'), 1, 1)],
  ])('ignores %s', (_title, change) => {
    const before = buildInputs(folder)
    change()
    expect(buildInputs(folder)).toBe(before)
  })
})

describe('buildOutputs', () => {
  it('is undefined before the first build', () => {
    expect(buildOutputs(folder)).toBeUndefined()
  })

  it('notices a build that ran in between, even one that wrote the same bytes', () => {
    write('dist/index.js', 'export {}')
    utimesSync(join(folder, 'dist/index.js'), 1, 1)
    const before = buildOutputs(folder)
    utimesSync(join(folder, 'dist/index.js'), 2, 2)
    expect(buildOutputs(folder)).not.toBe(before)
  })
})

describe('stamps', () => {
  it('are read as they were written', () => {
    const file = stampFile(folder, 'built')
    writeStamp(file, { a: '1' })
    expect(readStamp(file)).toEqual({ a: '1' })
  })

  it('count for nothing where they are missing or torn', () => {
    const file = stampFile(folder, 'built')
    expect(readStamp(file)).toEqual({})
    writeStamp(file, {})
    writeFileSync(file, '{"a": ')
    expect(readStamp(file)).toEqual({})
  })
})
