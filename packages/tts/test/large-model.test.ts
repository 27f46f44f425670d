import { expect, test } from 'vitest'
import { endOf, startModule } from './support/child.ts'

const script = new URL('./support/speak-large-model.ts', import.meta.url).href

test('24 layers of full width clone and speak within the memory that the README states', async () => {
  const code = `import { speakLargeModel } from '${script}'\nawait speakLargeModel(24)`
  const { code: exitCode, output } = await endOf(startModule(code))
  expect(exitCode).toBe(0)
  const result = JSON.parse(output)
  // Three frames of 80 ms, after the position that begins a voice.
  expect(result).toMatchObject({ layers: 24, dModel: 1024, positions: 4, samples: 4 * 1920 })
  expect(result.loudest).toBeGreaterThan(0)
  expect(result.loudest).toBeLessThan(Number.POSITIVE_INFINITY)
  // The README has 0.8 GB. All weights in float32, or held twice, would be at least 1.3 GB.
  expect(result.peakMegabytes).toBeLessThan(1100)
}, 120_000)
