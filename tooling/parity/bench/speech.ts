/**
 * Measures utterances through `@pocket/tts` on each backend of this machine: the embedded model, compared sample by sample
 * with the CPU, and a model of full size with generated weights: alone, eight at a time, and one text of sixteen chunks.
 * `node bench/speech.ts MODEL_FOLDER TOKENIZER [BACKEND…]`; where there is no network, bundle it first (README.md).
 */
import process from 'node:process'
import { type GenerateOptions, PocketTts, type Voice } from '@pocket/tts'
import { fullWeights, writeTensorFile } from '@tooling/fixtures'
import { noisyVoice } from './full-size.ts'

const [modelFolder, tokenizer, ...wanted] = process.argv.slice(2)
if (!modelFolder || !tokenizer) throw new Error('usage: speech.ts MODEL_FOLDER TOKENIZER [BACKEND…]')

const isWanted = (backend: string): boolean => wanted.length === 0 || wanted.includes(backend)

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const seconds = (begin: number): string => `${((performance.now() - begin) / 1000).toFixed(2)} s`

const compareEmbedded = async (): Promise<void> => {
  const options = { voice: 'rms', seed: 123_456_789 }
  const text = 'Hello from my pocket. It speaks on whatever there is.'
  const cpu = await PocketTts.load(modelFolder, { backend: 'cpu' })
  const expected = await cpu.speak(text, options)
  cpu.dispose()
  for (const backend of ['auto', 'hybrid', 'gpu'] as const) {
    if (!isWanted(backend)) continue
    const begin = performance.now()
    const tts = await PocketTts.load(modelFolder, { backend })
    const loaded = seconds(begin)
    const spoken = await tts.speak(text, options)
    const frames = spoken.chunks.map((chunk) => chunk.frames).join(' + ')
    const greatest = spoken.pcm.reduce(
      (most, x, i) => Math.max(most, Math.abs(x - (expected.pcm[i] ?? 9))),
      0,
    )
    print(
      `embedded, ${backend}: loaded in ${loaded}, ${JSON.stringify(tts.backend)}, ${frames} frames ` +
        `(CPU ${expected.chunks.map((chunk) => chunk.frames).join(' + ')}), samples within ${greatest.toExponential(1)}`,
    )
    tts.dispose()
  }
}

/** Twenty tokens or so, and never an end of speech: as many frames as a chunk may have. */
const text = 'A sentence of an ordinary length, as people speak them every day of the week.'

interface Timed {
  readonly first: number
  readonly last: number
  readonly frames: number
}

const speak = async (
  tts: PocketTts,
  voice: Voice,
  { said = text, ...options }: Pick<GenerateOptions, 'noiseStream'> & { said?: string } = {},
): Promise<Timed> => {
  const begin = performance.now()
  let first = 0
  let frames = 0
  for await (const _ of tts.stream(said, { voice, eosThreshold: 1e9, maxTokensPerChunk: 25, ...options })) {
    first ||= performance.now() - begin
    frames++
  }
  return { first, last: performance.now() - begin, frames }
}

/** Sixteen of it, a chunk each. */
const longText = Array.from({ length: 16 }, () => text).join(' ')

const describeLong = async (tts: PocketTts, voice: Voice): Promise<string> => {
  const described: string[] = []
  for (const noiseStream of ['utterance', 'chunk'] as const) {
    await speak(tts, voice, { said: longText, noiseStream })
    const { first, last, frames } = await speak(tts, voice, { said: longText, noiseStream })
    described.push(
      `noise by ${noiseStream} ${((80 * frames) / last).toFixed(0)} × real time (${frames} frames, first after ` +
        `${first.toFixed(1)} ms)`,
    )
  }
  return described.join(', ')
}

const measureFull = async (): Promise<void> => {
  const model = writeTensorFile([...fullWeights()])
  for (const [backend, lanes] of [
    ['cpu', 1],
    ['hybrid', 1],
    ['gpu', 1],
    ['gpu', 8],
  ] as const) {
    if (!isWanted(backend)) continue
    const begin = performance.now()
    const tts = await PocketTts.load({ model, tokenizer }, { backend, lanes })
    const loaded = seconds(begin)
    const voice = noisyVoice(tts.flowLm.config)
    await speak(tts, voice)
    const alone = await speak(tts, voice)
    const together = performance.now()
    const all = await Promise.all(Array.from({ length: 8 }, () => speak(tts, voice)))
    const frames = all.reduce((sum, one) => sum + one.frames, 0)
    const spoken = 80 * frames
    const perFrame = (alone.last - alone.first) / (alone.frames - 1)
    print(
      `full size, ${backend}, ${lanes} lanes, ${JSON.stringify(tts.backend)}: loaded in ${loaded}, first sound after ` +
        `${alone.first.toFixed(0)} ms, ${perFrame.toFixed(2)} ms a frame (${(80 / perFrame).toFixed(0)} × real time), eight ` +
        `at once ${(spoken / (performance.now() - together)).toFixed(0)} × real time`,
    )
    if (backend === 'gpu') print(`  sixteen chunks: ${await describeLong(tts, voice)}`)
    tts.dispose()
  }
}

await compareEmbedded()
await measureFull()
process.exit(0)
