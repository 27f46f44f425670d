import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'

const tts = await PocketTts.load(mini, { backend: 'auto' }) // or 'cpu', 'gpu', 'hybrid'
const { name, adapter, reason } = tts.backend
console.log(name === 'gpu' ? `computes on ${adapter}` : `computes on the CPU: ${reason}`)
await tts.generate('The same voice, the same words.')
tts.dispose()
