import { type Contender, ContenderProcess } from './contender.ts'
import type { Budget, Memory, Spoken } from './protocol.ts'
import type { Sample } from './statistics.ts'
import { type Stage, stages } from './subject.ts'

/** How much is done of everything. */
export interface Effort {
  /** Turns that each contender has at each stage. */
  readonly rounds: number
  /** Of one turn. */
  readonly budget: Budget
  /** Utterances, and the frames of each. */
  readonly utterances: number
  readonly frames: number
}

export interface Measurement {
  readonly contender: Contender
  readonly load: Sample
  readonly stages: Readonly<Record<Stage, readonly Sample[]>>
  readonly spoken: readonly Spoken[]
  /** After an utterance, the first. Undefined where the subject does not speak: then it does not hold what that takes. */
  readonly memory: Memory | undefined
}

export interface Outcome {
  readonly measurements: readonly Measurement[]
  /** What could not be opened here, and why. */
  readonly missing: readonly { readonly contender: Contender; readonly reason: string }[]
}

const text =
  'The road is long, and nobody knows where we are going tonight; will you come with us, my friend?'

/**
 * Measures contenders against each other: A B A B, so that whatever else the machine does meets all of them. Each has
 * a process of its own; only one of them works at a time.
 */
export const measure = async (
  contenders: readonly Contender[],
  effort: Effort,
  report: (stage: string) => void,
): Promise<Outcome> => {
  const { open, missing } = await openAll(contenders, effort, report)
  try {
    for (const stage of stages) {
      report(stage)
      for (let round = 0; round < effort.rounds; round++) {
        for (const { process, samples } of open) {
          samples[stage].push(...(await process.ask('time', stage, effort.budget)))
        }
      }
    }
    report('speech')
    for (let utterance = 0; utterance < effort.utterances; utterance++) {
      for (const { process, spoken } of open) {
        const utterance = await process.ask('speak', text, effort.frames)
        if (utterance) spoken.push(utterance)
      }
    }
    const measurements: Measurement[] = []
    for (const { contender, load, memory, samples, spoken } of open) {
      measurements.push({ contender, load, stages: samples, spoken, memory })
    }
    return { measurements, missing }
  } finally {
    for (const { process } of open) process.end()
  }
}

interface OpenContender {
  readonly contender: Contender
  readonly process: ContenderProcess
  readonly load: Sample
  readonly memory: Memory | undefined
  readonly samples: Record<Stage, Sample[]>
  readonly spoken: Spoken[]
}

/** Each says a text once: memory is looked at before stages, with states of their own, have added to it. */
const openAll = async (
  contenders: readonly Contender[],
  { frames }: Effort,
  report: (stage: string) => void,
) => {
  const open: OpenContender[] = []
  const missing: Outcome['missing'][number][] = []
  for (const contender of contenders) {
    report(`loading ${contender.model}, ${contender.engine}`)
    const process = new ContenderProcess()
    try {
      const load = await process.ask('open', contender.subject)
      const speaks = await process.ask('speak', text, frames)
      const memory = speaks && (await process.ask('memory'))
      const samples = { prompt: [], step: [], flow: [], decode: [], encode: [] }
      open.push({ contender, process, load, memory, samples, spoken: [] })
    } catch (error) {
      process.end()
      missing.push({ contender, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return { open, missing }
}
