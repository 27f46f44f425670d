import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fastest } from './support/levels.ts'
import { pitchDistance, spectralDistance, type VoicePrint, voicePrint } from './support/voice-print.ts'

const heard = 'Glue the sheet to the dark blue background.'
const spoken = 'The juice of lemons makes fine punch.'

let tts: PocketTts
/** How the model's own voices say what the clones are going to say. */
const originals = new Map<string, VoicePrint>()

beforeAll(async () => {
  tts = await PocketTts.load(mini, { simd: fastest })
  for (const voice of tts.voices()) {
    originals.set(voice, voicePrint(await tts.generate(spoken, { voice, seed: 21 })))
  }
}, 60_000)
afterAll(() => tts.dispose())

// Measured: 0.5 to 2.2 dB and up to 0.5 semitones from its own voice, 5.8 dB and 3.6 semitones or more from the others.
describe("a voice cloned from the embedded model's own speech", () => {
  test.each(['awb', 'rms', 'slt'])('of %s speaks with that voice, and another sentence', async (name) => {
    const recording = await tts.generate(heard, { voice: name, seed: 11 })
    const voice = await tts.cloneVoice(recording)
    const clone = voicePrint(await tts.generate(spoken, { voice, seed: 31 }))
    const own = originals.get(name)!
    for (const [other, print] of originals) {
      if (other === name) continue
      expect(spectralDistance(clone, own), other).toBeLessThan(spectralDistance(clone, print) / 2)
      expect(pitchDistance(clone, own), other).toBeLessThan(pitchDistance(clone, print) / 2)
    }
  })
})
