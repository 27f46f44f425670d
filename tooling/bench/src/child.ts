// The process of one subject: nothing else is in its memory, and nothing else runs while it is timed.
import process from 'node:process'
import { peakMemory } from './peak-memory.ts'
import type { Answer, Budget, Commands, Request } from './protocol.ts'
import type { Sample } from './statistics.ts'
import type { Stage, Subject, SubjectModule } from './subject.ts'

let subject: Subject

const cpuTime = (): number => {
  // Of all threads.
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const timed = async (work: () => Promise<unknown>): Promise<Sample> => {
  const [wall, cpu] = [performance.now(), cpuTime()]
  await work()
  return { wall: performance.now() - wall, cpu: cpuTime() - cpu }
}

/** Code is compiled, and the codec's window of 16 frames filled, in runs that do not count. */
const warmUp: Budget = { mostRuns: 20, milliseconds: 400 }
const warm = new Set<Stage>()

const commands: Commands = {
  async open({ module, settings }) {
    const { open } = (await import(`./subjects/${module}.ts`)) as SubjectModule
    return timed(async () => {
      subject = await open(settings)
    })
  },

  async time(stage, budget) {
    if (!warm.has(stage)) await timeStage(stage, warmUp)
    warm.add(stage)
    return timeStage(stage, budget)
  },

  async speak(text, frames) {
    const frameStream = subject.speak?.(text)
    if (!frameStream) return undefined
    const start = performance.now()
    let firstAudio = 0
    let samples = 0
    const whole = await timed(async () => {
      let left = frames
      for await (const { pcm } of frameStream) {
        if (samples === 0) firstAudio = performance.now() - start
        samples += pcm.length
        if (--left === 0) break
      }
    })
    return { firstAudio, whole, seconds: samples / 24000 }
  },

  async memory() {
    return { resident: process.memoryUsage.rss(), peak: peakMemory(), wasm: subject.wasmBytes() }
  },
}

const timeStage = async (stage: Stage, { mostRuns, milliseconds }: Budget): Promise<Sample[]> => {
  const work = await subject.prepare(stage)
  if (!work) return []
  const samples: Sample[] = []
  const end = performance.now() + milliseconds
  do {
    work.ready?.()
    samples.push(await timed(() => work.run()))
  } while (samples.length < mostRuns && performance.now() < end)
  work.dispose()
  return samples
}

process.on('message', async ({ command, args }: Request) => {
  let answer: Answer
  try {
    const run = commands[command] as (...args: readonly unknown[]) => Promise<unknown>
    answer = { value: await run(...args) }
  } catch (error) {
    answer = { error: error instanceof Error ? error.message : String(error) }
  }
  // Where nobody listens any more there is nothing to do but to go, see below.
  process.send?.(answer, undefined, undefined, () => {})
})

// Whoever asked has gone.
process.on('disconnect', () => process.exit())
