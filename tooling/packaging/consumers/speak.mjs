// Speaks, and prints what was spoken. The same program runs in Node and, bundled, in browsers.
import { mini } from '@pocket/mini'
import { encodeWav, PocketTts } from '@pocket/tts'

const tts = await PocketTts.load(mini)
const samples = await tts.generate('Hello.', { voice: 'rms', seed: 1 })
const digest = await crypto.subtle.digest('SHA-256', encodeWav(samples))
const sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0)
console.log(JSON.stringify({ seconds: samples.length / tts.sampleRate, peak, sha256 }))
tts.dispose()
