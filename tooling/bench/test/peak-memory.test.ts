import { execFileSync } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { peakMemory } from '../src/peak-memory.ts'

const module = fileURLToPath(new URL('../src/peak-memory.ts', import.meta.url))

it('is never less than what is held, and does not begin with what the starting process held', () => {
  const held = new Uint8Array(300e6).fill(1)
  expect(peakMemory()).toBeGreaterThan(held.length)
  const program = `import { peakMemory } from ${JSON.stringify(module)}; console.log(peakMemory())`
  const child = Number(
    execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' }),
  )
  expect(child).toBeGreaterThan(10e6)
  expect(child).toBeLessThan(held.length)
})
