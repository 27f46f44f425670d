import { writeFile } from 'node:fs/promises'
import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'

const tts = await PocketTts.load(mini)
console.log(`voices: ${tts.voices().join(', ')}; ${tts.defaultVoice} unless named`)

// A recording: 24 kHz mono samples, or the bytes of a WAV file. Here another voice's own speech.
const recording = await tts.generate('Glue the sheet to the dark blue background.', { voice: 'slt' })
const voice = await tts.cloneVoice(recording, { name: 'blue' })
await writeFile('blue.safetensors', tts.exportVoice(voice))

const again = await tts.loadVoice('./blue.safetensors')
console.log(`a voice of ${again.kv.positions} positions, made with ${again.modelId}`)
await tts.generate('Good morning.', { voice: again })
tts.dispose()
