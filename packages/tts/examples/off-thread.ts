import { mini } from '@pocket/mini'
import { loadInWorker, PocketTts, type SpeechEngine } from '@pocket/tts'

/** Runs with either: the interface is the same. */
const say = async (where: string, engine: SpeechEngine) => {
  let frames = 0
  for await (const { pcm } of engine.stream('Hello from my pocket.')) frames += pcm.length > 0 ? 1 : 0
  console.log(`${frames} frames, made ${where}`)
  engine.dispose()
}

await say('on this thread', await PocketTts.load(mini))
await say('in a worker', await loadInWorker(mini))
