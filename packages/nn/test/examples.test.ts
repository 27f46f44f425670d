import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('runs the example of the README', () => {
  const file = fileURLToPath(new URL('../examples/record.ts', import.meta.url))
  expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).toContain(
    readFileSync(file, 'utf8').trim(),
  )
  const conditions = process.env.TEST_BUILT ? [] : ['--conditions=@pocket/source']
  const output = execFileSync(process.execPath, [...conditions, file], { encoding: 'utf8' })
  expect(output).toBe('layerNorm → [16, 256]\nlinear → [16, 1024]\nlinear → [16, 256]\n112 KiB of memory\n')
})
