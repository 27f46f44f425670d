import { writeFile } from 'node:fs/promises'
import { mini } from '@pocket/mini'
import { encodeWav, PocketTts } from '@pocket/tts'

const tts = await PocketTts.load(mini)
const { pcm, chunks } = await tts.speak('Hello from my pocket. It is warm in here.', { seed: 7 })
await writeFile('speech.wav', encodeWav(pcm))
console.log(`${(pcm.length / tts.sampleRate).toFixed(2)} s of speech, ${chunks.length} chunk`)
tts.dispose()
