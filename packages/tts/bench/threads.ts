// What a worker costs, and what it spares the calling thread: node bench/threads.ts, on the built packages.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'
import { mini } from '@pocket/mini'
import { loadInWorker, PocketTts, type SpeechEngine } from '@pocket/tts'

const text = 'The road is long. Nobody knows where we are going tonight! Will you come with us, my friend?'
const runs = 9

/** All in milliseconds. */
interface Measured {
  /** Of all threads: time on the clock would say more of what else the machine does. */
  readonly processorPerFrame: number
  /** By which 99 of 100 timers of 1 ms were late at most. */
  readonly late: number
}

const measure = async (engine: SpeechEngine): Promise<Measured> => {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const before = process.cpuUsage()
  let frames = 0
  for await (const _ of engine.stream(text)) frames++
  const { user, system } = process.cpuUsage(before)
  delays.disable()
  return { processorPerFrame: (user + system) / 1000 / frames, late: delays.percentile(99) / 1e6 - 1 }
}

/** The best of several runs: what other programs took of the machine is not ours to report. */
const row = async (name: string, engine: SpeechEngine): Promise<string> => {
  await measure(engine) // Compiles, and reads the voice.
  const measured: Measured[] = []
  for (let run = 0; run < runs; run++) measured.push(await measure(engine))
  engine.dispose()
  const best = (key: keyof Measured): string => Math.min(...measured.map((each) => each[key])).toFixed(1)
  return `| ${[name, best('processorPerFrame'), best('late')].join(' | ')} |`
}

console.log(`| ms, best of ${runs} runs | processor time per frame | timers late by (99 of 100) |`)
console.log('| --- | ---: | ---: |')
console.log(await row('`PocketTts.load`', await PocketTts.load(mini)))
console.log(await row('`loadInWorker`', await loadInWorker(mini)))
