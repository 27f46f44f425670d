/**
 * How long `encode` takes, and that the time grows with the text and with nothing else:
 * `node --conditions=@pocket/source bench/encode.ts` prints the table of the README.
 */
import { readFixture, readJson } from '@tooling/fixtures'
import { SentencePieceUnigram } from '../src/index.ts'

const goldens = readJson<{ cases: { name: string; text: string }[] }>('tokenizer/encode.json')
const prose = goldens.cases.find(({ name }) => name === 'long-20k')!.text

const workloads = [
  { name: 'prose, six languages', model: 'sp4000.model', unit: prose, lengths: [1e4, 1e5, 1e6, 1e7] },
  { name: 'emoji (byte fallback)', model: 'sp4000.model', unit: '😀', lengths: [1e6] },
  {
    name: '`zqzq…`, with a piece of 400 letters',
    model: 'accept/long-piece.model',
    unit: 'zq',
    lengths: [1e4, 1e5, 1e6],
  },
]

const milliseconds = (work: () => void): number => {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** The fastest of several runs: what other programs took of the machine is not ours to report. */
const best = (runs: number, work: () => void): number =>
  Math.min(...Array.from({ length: runs }, () => milliseconds(work)))

const print = (...cells: (string | number)[]): void => {
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}

print('text', 'MB of UTF-8', 'tokens', 'ms', 'MB/s')
print('---', '---:', '---:', '---:', '---:')
for (const { name, model, unit, lengths } of workloads) {
  const tokenizer = SentencePieceUnigram.fromBytes(readFixture(`tokenizer/${model}`))
  tokenizer.encode(prose)
  for (const length of lengths) {
    const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
    const tokens = tokenizer.encode(text).length
    const time = best(7, () => tokenizer.encode(text))
    const megabytes = new TextEncoder().encode(text).length / 1e6
    print(name, megabytes.toFixed(2), tokens, time.toFixed(1), (megabytes / (time / 1e3)).toFixed(1))
  }
}

const model = readFixture('tokenizer/sp4000.model')
const loading = best(20, () => SentencePieceUnigram.fromBytes(model))
process.stdout.write(`\nLoading 4,000 pieces: ${loading.toFixed(1)} ms\n`)
