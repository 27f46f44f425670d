import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'

const tts = await PocketTts.load(mini)
const controller = new AbortController()
const speaking = tts.generate('This goes on for longer than anybody wants to hear.', {
  signal: controller.signal,
  onProgress: ({ frames }) => {
    if (frames === 10) controller.abort(new Error('thank you, that is enough'))
  },
})
console.log(await speaking.catch((error) => error.message))
console.log((await tts.generate('Still here.')).length > 0 ? 'and it can still speak' : '')
tts.dispose()
