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
    // The seeds of the reference's evaluation. They draw other noise here, so single sentences differ.
    const { pcm, chunks } = await tts.speak(text, { voice, seed: 1000 + index, temperature: 0.3 })
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
