import process from 'node:process'
import { openSource } from '@pocket/safetensors'
import { PocketTts } from '@pocket/tts'
import { fullWeights, fullWeightsSource, readFixture, readGoldens } from '@tooling/fixtures'

/**
 * For a process of its own: clones a voice and speaks with a model of the real width, its weights read one by one as
 * from a disk, and prints what came of it, with the most memory that the process ever had.
 */
export const speakLargeModel = async (layers: number): Promise<void> => {
  const tts = await PocketTts.load({
    model: await openSource(fullWeightsSource(fullWeights(undefined, { layers }))),
    tokenizer: readFixture('tokenizer/sp4000.model'),
    config: { flow_lm: { transformer: { num_layers: layers } } },
  })
  const recording = readGoldens('tiny/wave.safetensors')
    .get('wave')
    ?.data.subarray(0, 3 * 1920)
  const voice = await tts.cloneVoice(recording ?? new Float32Array())
  // The first step ends the speech, and four frames follow.
  const options = { voice, eosThreshold: Number.NEGATIVE_INFINITY, framesAfterEos: 4 }
  const pcm = await tts.generate('It was the best of times.', options)
  const result = {
    layers: tts.flowLm.config.layers,
    dModel: tts.flowLm.config.dModel,
    positions: voice.kv.positions,
    samples: pcm.length,
    loudest: pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0),
    peakMegabytes: Math.round((process.resourceUsage().maxRSS * 1024) / 1e6),
  }
  process.stdout.write(JSON.stringify(result))
}
