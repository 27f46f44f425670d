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
  /** Undefined where the subject does not speak: then it does not hold what that takes. */
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
  const { open, missing } = await openAll(contenders, report)
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
    for (const { contender, process, load, samples, spoken } of open) {
      const memory = spoken.length > 0 ? await process.ask('memory') : undefined
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
  readonly samples: Record<Stage, Sample[]>
  readonly spoken: Spoken[]
}

const openAll = async (contenders: readonly Contender[], report: (stage: string) => void) => {
  const open: OpenContender[] = []
  const missing: Outcome['missing'][number][] = []
  for (const contender of contenders) {
    report(`loading ${contender.model}, ${contender.engine}`)
    const process = new ContenderProcess()
    try {
      const load = await process.ask('open', contender.subject)
      const samples = { prompt: [], step: [], flow: [], decode: [], encode: [] }
      open.push({ contender, process, load, samples, spoken: [] })
    } catch (error) {
      process.end()
      missing.push({ contender, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return { open, missing }
}
