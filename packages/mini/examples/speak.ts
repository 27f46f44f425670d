import { writeFile } from 'node:fs/promises'
import { mini } from '@pocket/mini'
import { encodeWav, PocketTts } from '@pocket/tts'

const tts = await PocketTts.load(mini)
const samples = await tts.generate('Hello from my pocket.', { voice: 'rms' })
await writeFile('hello.wav', encodeWav(samples))
console.log(`${(samples.length / tts.sampleRate).toFixed(2)} s of speech in hello.wav`)
