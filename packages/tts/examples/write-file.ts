import { mini } from '@pocket/mini'
import { loadInWorker } from '@pocket/tts'
import { writeWavFile } from '@pocket/tts/node'

const engine = await loadInWorker(mini)

const { seconds } = await writeWavFile('long.wav', engine.stream('It goes on and on. '.repeat(8)))
console.log(`${seconds.toFixed(2)} s, in a file that was never whole in memory`)

const speech = engine.stream('This one is stopped.', { signal: AbortSignal.abort(new Error('too late')) })
console.log(await writeWavFile('stopped.wav', speech).catch((error) => `${error.message}: no file`))
engine.dispose()
