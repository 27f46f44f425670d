// speak.mjs as CommonJS.
const { mini } = require('@pocket/mini')
const { encodeWav, PocketTts } = require('@pocket/tts')

const speak = async () => {
  const tts = await PocketTts.load(mini)
  const samples = await tts.generate('Hello.', { voice: 'rms', seed: 1 })
  const digest = await crypto.subtle.digest('SHA-256', encodeWav(samples))
  const sha256 = Buffer.from(digest).toString('hex')
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0)
  console.log(JSON.stringify({ seconds: samples.length / tts.sampleRate, peak, sha256 }))
  tts.dispose()
}

speak()
