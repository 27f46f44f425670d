// Speaks the 40 evaluation sentences in every voice of the embedded model:
//   node tooling/evaluate/speak.ts [folder]      default: build/evaluate beside this file
// Writes <voice>/NN.wav and <voice>.tsv, the list that rate.ts reads. Needs the packages built.
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { mini } from '@pocket/mini'
import { encodeWav, PocketTts } from '@pocket/tts'
import { readJson } from '@tooling/fixtures'
import { formatList, type Utterance } from './src/listening-list.ts'

/**
 * One fixed seed a sentence, spread over 64 bits by the golden ratio: a small number is a bad state of an xorshift
 * generator, whose first normal value then lies six standard deviations out.
 */
const seedOf = (index: number): bigint => BigInt.asUintN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n)

const folder = resolve(process.argv[2] ?? fileURLToPath(new URL('build/evaluate', import.meta.url)))
const { sentences } = readJson<{ sentences: { text: string }[] }>('eval.json')
const tts = await PocketTts.load(mini)

for (const voice of tts.voices()) {
  await mkdir(join(folder, voice), { recursive: true })
  const utterances: Utterance[] = []
  const start = performance.now()
  let seconds = 0
  let endless = 0
  for (const [index, { text }] of sentences.entries()) {
    const { pcm, chunks } = await tts.speak(text, { voice, seed: seedOf(index), temperature: 0.3 })
    const file = join(voice, `${String(index).padStart(2, '0')}.wav`)
    await writeFile(join(folder, file), encodeWav(pcm, tts.sampleRate))
    utterances.push({ file, text })
    seconds += pcm.length / tts.sampleRate
    endless += chunks.filter(({ eosStep }) => eosStep === null).length
  }
  await writeFile(join(folder, `${voice}.tsv`), formatList(utterances))
  const wall = (performance.now() - start) / 1000
  console.log(
    `${voice}: ${seconds.toFixed(1)} s of speech in ${wall.toFixed(1)} s, ${endless} without an end`,
  )
}
