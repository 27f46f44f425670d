// Speaks the 40 evaluation sentences in every voice of the embedded model:
//   node tooling/evaluate/speak.ts [--noise torch|own] [--precision …] [--codec-precision …] [folder]
// The folder is build/evaluate beside this file unless one is named.
// Writes <voice>/NN.wav and <voice>.tsv, the list that rate.ts reads. Needs the packages built.
// With PyTorch's noise (the default) the utterances are the reference's own; `own` draws from Pocket's generator.
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { mini } from '@pocket/mini'
import { encodeWav, type LoadOptions, PocketTts } from '@pocket/tts'
import { readJson } from '@tooling/fixtures'
import { formatList, type Utterance } from './src/listening-list.ts'
import { TorchNoise } from './src/torch-noise.ts'

/**
 * One fixed seed a sentence, spread over 64 bits by the golden ratio: a small number is a bad state of an xorshift
 * generator, whose first normal value then lies six standard deviations out.
 */
const seedOf = (index: number): bigint => BigInt.asUintN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n)

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    noise: { type: 'string', default: 'torch' },
    precision: { type: 'string' },
    'codec-precision': { type: 'string' },
  },
})
if (options.noise !== 'torch' && options.noise !== 'own') throw new Error('--noise takes torch or own')
/** The recorded evaluation of the reference: `torch.manual_seed(1000 + sentence index)` before each sentence. */
const randomness = (index: number) =>
  options.noise === 'torch' ? { noise: new TorchNoise(1000 + index) } : { seed: seedOf(index) }

const folder = resolve(positionals[0] ?? fileURLToPath(new URL('build/evaluate', import.meta.url)))
const { sentences, timing } = readJson<{
  sentences: { text: string }[]
  timing: Record<string, { model_audio_s: number }>
}>('eval.json')
// Whatever is given goes on as it is: the package knows what it may be.
const tts = await PocketTts.load(mini, {
  precision: options.precision as LoadOptions['precision'],
  codecPrecision: options['codec-precision'] as LoadOptions['codecPrecision'],
})

for (const voice of tts.voices()) {
  await mkdir(join(folder, voice), { recursive: true })
  const utterances: Utterance[] = []
  const start = performance.now()
  let seconds = 0
  let endless = 0
  for (const [index, { text }] of sentences.entries()) {
    const { pcm, chunks } = await tts.speak(text, { voice, temperature: 0.3, ...randomness(index) })
    const file = join(voice, `${String(index).padStart(2, '0')}.wav`)
    await writeFile(join(folder, file), encodeWav(pcm, tts.sampleRate))
    utterances.push({ file, text })
    seconds += pcm.length / tts.sampleRate
    endless += chunks.filter(({ eosStep }) => eosStep === null).length
  }
  await writeFile(join(folder, `${voice}.tsv`), formatList(utterances))
  const wall = (performance.now() - start) / 1000
  console.log(
    `${voice}: ${seconds.toFixed(2)} s of speech in ${wall.toFixed(1)} s, ${endless} without an end; ` +
      `the reference made ${timing[voice]?.model_audio_s.toFixed(2)} s`,
  )
}
