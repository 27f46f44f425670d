import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { create } from 'webgpu'
import { refusal } from './support/errors.ts'
import { fastest } from './support/levels.ts'

/** Dawn's null backend: a GPU that takes everything, and computes nothing. */
beforeEach(() => {
  Object.defineProperty(navigator, 'gpu', { value: create(['backend=null']), configurable: true })
  // Where a driver is named, one may be there.
  vi.stubEnv('VK_DRIVER_FILES', 'none')
})
afterEach(() => {
  Reflect.deleteProperty(navigator, 'gpu')
  vi.unstubAllEnvs()
})

test.each(['gpu', 'hybrid'] as const)(
  '%s by name is refused where the GPU computes nothing',
  async (backend) => {
    const load = PocketTts.load(mini, { backend, simd: fastest, threads: 1 })
    await refusal(load, 'gpu-refused', 'computes wrong numbers')
  },
)

test('auto takes the CPU there, says why, and speaks', async () => {
  const tts = await PocketTts.load(mini, { simd: fastest, threads: 1 })
  expect(tts.backend).toMatchObject({ name: 'cpu', reason: expect.stringContaining('wrong numbers') })
  expect(tts.warnings).toMatchObject([{ code: 'gpu-refused', message: expect.stringContaining('CPU') }])
  expect(await tts.generate('Yes.')).not.toHaveLength(0)
  tts.dispose()
})
