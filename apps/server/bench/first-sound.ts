// How soon is speech heard? pnpm build, then: node bench/first-sound.ts
// Callers and server share one process here, on the embedded model and the loopback.
import { availableParallelism, cpus } from 'node:os'
import { mini } from '@pocket/mini'
import { startServer } from '@pocket/server'
import { loadInWorker } from '@pocket/tts'

const input = 'The old man sat by the window and read his newspaper.'
const formats = ['pcm', 'wav', 'mp3', 'opus', 'flac', 'aac']
const repetitions = 7

const median = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!

const engine = await loadInWorker(mini)
const server = await startServer(engine, { port: 0, concurrency: 16 })

/** Milliseconds to the first bytes and to the last. */
const listen = async (response_format: string): Promise<{ first: number; last: number }> => {
  const start = performance.now()
  const response = await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', voice: 'rms', input, response_format }),
  })
  const reader = response.body!.getReader()
  await reader.read()
  const first = performance.now() - start
  while (!(await reader.read()).done);
  return { first, last: performance.now() - start }
}

const seconds = (await engine.generate(input, { voice: 'rms' })).length / engine.sampleRate
console.log(
  `${cpus()[0]?.model}, ${availableParallelism()} cores, ${process.version}; ${seconds.toFixed(1)} s of speech`,
)
for (const format of formats) {
  const cold = await listen(format)
  const warm = []
  for (let i = 0; i < repetitions; i++) warm.push(await listen(format))
  const first = median(warm.map((run) => run.first)).toFixed(0)
  const last = median(warm.map((run) => run.last)).toFixed(0)
  console.log(`${format}: first bytes ${first} ms (first time ${cold.first.toFixed(0)} ms), last ${last} ms`)
}
for (const callers of [1, 4, 16]) {
  const start = performance.now()
  const runs = await Promise.all(Array.from({ length: callers }, () => listen('wav')))
  const speed = (callers * seconds) / ((performance.now() - start) / 1000)
  const first = median(runs.map((run) => run.first)).toFixed(0)
  console.log(`${callers} at once: first bytes ${first} ms, all together ${speed.toFixed(1)} × real time`)
}
await server.close()
engine.dispose()
