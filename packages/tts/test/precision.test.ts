import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'
import { relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loudness } from './support/voice-print.ts'

/** The level whose numbers are the same on every machine: what is compared here is not left to the processor. */
const simd = 'simd'

const sentences = [
  'Hello from my pocket.',
  'The road is long.',
  'Nobody knows where we are going tonight!',
  'Seven forty six in the evening.',
]

describe('the embedded model in eight bits', () => {
  let stored: PocketTts
  let int8: PocketTts
  beforeAll(async () => {
    stored = await PocketTts.load(mini, { simd })
    int8 = await PocketTts.load(mini, { simd, precision: 'int8' })
  })
  afterAll(() => {
    stored.dispose()
    int8.dispose()
  })

  test.each(sentences)(
    'ends "%s" where the stored weights do, and sounds a little different',
    async (text) => {
      const expected = await stored.speak(text)
      const found = await int8.speak(text)
      expect(found.warnings).toEqual([])
      expect(found.chunks.map(({ eosStep }) => eosStep)).toEqual(
        expected.chunks.map(({ eosStep }) => eosStep),
      )
      expect(found.pcm).toHaveLength(expected.pcm.length)
      expect(loudness(found.pcm) / loudness(expected.pcm)).toBeCloseTo(1, 0)
      expect(relativeL2(found.pcm, expected.pcm)).toBeGreaterThan(0.01)
    },
  )
})

test('with a codec of 16-bit integers the same latents sound the same: what differs lies 60 dB below', async () => {
  const [plain, integers] = [
    await PocketTts.load(mini, { simd }),
    await PocketTts.load(mini, { simd, codecPrecision: 'int16' }),
  ]
  const [expected, found] = [
    await plain.generate('The road is long.'),
    await integers.generate('The road is long.'),
  ]
  expect(integers.backend).toMatchObject({ name: 'cpu', reason: expect.stringContaining('int16') })
  expect(found).toHaveLength(expected.length)
  expect(relativeL2(found, expected)).toBeLessThan(1e-3)
  expect(relativeL2(found, expected)).toBeGreaterThan(1e-5)
  plain.dispose()
  integers.dispose()
})
