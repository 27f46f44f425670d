import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'
import { readJson } from '@tooling/fixtures'
import { expect, it } from 'vitest'
import { TorchNoise } from '../src/torch-noise.ts'

it('draws what torch.manual_seed(0); torch.randn(16) draws', () => {
  const printed = [
    -1.1258, -1.1524, -0.2506, -0.4339, 0.8487, 0.692, -0.316, -2.1152, 0.3223, -1.2633, 0.35, 0.3081, 0.1198,
    1.2377, 1.1168, -0.2473,
  ]
  const drawn = new TorchNoise(0, 0).next(16)
  for (const [i, value] of printed.entries()) expect(drawn[i]).toBeCloseTo(value, 4)
})

it('makes utterances as long as the reference made them, to the frame', async () => {
  const { sentences, timing } = readJson<{
    sentences: { text: string }[]
    timing: Record<string, { model_audio_s: number }>
  }>('eval.json')
  const tts = await PocketTts.load(mini)
  let samples = 0
  for (const [index, { text }] of sentences.entries()) {
    const noise = new TorchNoise(1000 + index)
    samples += (await tts.generate(text, { voice: 'rms', temperature: 0.3, noise })).length
  }
  expect(samples / tts.sampleRate).toBeCloseTo(timing.rms!.model_audio_s, 6)
  tts.dispose()
})
