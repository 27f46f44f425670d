// How near two sets of utterances are, both written by speak.ts:
//   node tooling/evaluate/compare.ts [--min-snr dB] [--max-mel dB] [--max-words points] <reference.tsv> <other.tsv>
// Prints how many are equally long, how far their difference lies below them, the distance of their mel spectra, and
// what a recogniser makes of either. Exit code 1 where a bound is not kept: a gate for what computes less exactly.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { decodeAudio } from '@pocket/tts'
import { parseList, type Utterance } from './src/listening-list.ts'
import { alignedDistance, melSpectra, signalToDifference } from './src/mel.ts'
import { recognise } from './src/recogniser.ts'
import { errorRate, wordErrors } from './src/word-errors.ts'

const { values: options, positionals: lists } = parseArgs({
  allowPositionals: true,
  options: {
    'min-snr': { type: 'string', default: '-Infinity' },
    'max-mel': { type: 'string', default: 'Infinity' },
    'max-words': { type: 'string', default: 'Infinity' },
  },
})
const [reference, other] = lists
if (!reference || !other || lists.length > 2) throw new Error('name two lists: the reference, and the other')

interface Spoken extends Utterance {
  readonly path: string
  readonly pcm: Float32Array
}

const load = async (list: string): Promise<Spoken[]> =>
  Promise.all(
    parseList(await readFile(list, 'utf8')).map(async (utterance) => {
      const path = join(dirname(list), utterance.file)
      return { ...utterance, path, pcm: await decodeAudio(await readFile(path)) }
    }),
  )

const wordErrorRate = async (spoken: readonly Spoken[]): Promise<number> => {
  const heard = await recognise(spoken.map(({ path }) => path))
  return errorRate(spoken.map(({ text }, index) => wordErrors(text, heard[index] ?? '')))
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const [expected, found] = [await load(reference), await load(other)]
if (expected.some(({ text }, index) => text !== found[index]?.text))
  throw new Error('the lists say two things')
const pairs = expected.map(({ pcm }, index) => [pcm, found[index]?.pcm ?? new Float32Array()] as const)
const ratios = pairs.map(([a, b]) => signalToDifference(a, b)).filter((ratio) => ratio !== undefined)
const distances = pairs.map(([a, b]) => alignedDistance(melSpectra(a), melSpectra(b)))
const mel = distances.reduce((sum, distance) => sum + distance, 0) / distances.length
const least = Math.min(...ratios)
const words = [await wordErrorRate(expected), await wordErrorRate(found)] as const

console.log(`equally long: ${ratios.length} of ${pairs.length}`)
console.log(`signal to difference: median ${median(ratios).toFixed(1)} dB, least ${least.toFixed(1)} dB`)
console.log(`mel distance: mean ${mel.toFixed(2)} dB, most ${Math.max(...distances).toFixed(2)} dB`)
console.log(`word errors: ${words[0].toFixed(1)} % and ${words[1].toFixed(1)} %`)

const kept =
  least >= Number(options['min-snr']) &&
  mel <= Number(options['max-mel']) &&
  words[1] - words[0] <= Number(options['max-words'])
if (!kept) {
  console.log('a bound is not kept')
  process.exitCode = 1
}
