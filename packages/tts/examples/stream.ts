import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'

/** A text that is still being written, as a language model would. */
async function* answer() {
  yield 'A sentence is sp'
  yield 'oken as soon as it is over. The'
  yield ' next one may still be on its way.'
}

const tts = await PocketTts.load(mini)
let samples = 0
for await (const { pcm, index } of tts.stream(answer())) {
  if (index === 0) console.log(`the first ${pcm.length} samples are here`)
  samples += pcm.length // play, send or store them
}
console.log(`${(samples / tts.sampleRate).toFixed(2)} s in all`)
tts.dispose()
