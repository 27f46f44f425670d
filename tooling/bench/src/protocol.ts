import type { Sample } from './statistics.ts'
import type { Stage, SubjectName } from './subject.ts'

/** How long to go on: until there are `mostRuns`, or `milliseconds` have passed and there is one. */
export interface Budget {
  readonly mostRuns: number
  readonly milliseconds: number
}

/** An utterance, cut after some frames. */
export interface Spoken {
  /** From the call to the first frame, in ms of the wall clock. */
  readonly firstAudio: number
  readonly whole: Sample
  /** Of sound. */
  readonly seconds: number
}

export interface Memory {
  /** What the process holds now, and the most it ever held, in bytes. */
  readonly resident: number
  readonly peak: number
  readonly wasm: number | undefined
}

/** What the process of a subject can be asked to do, and what it answers. */
export interface Commands {
  open(name: SubjectName): Promise<Sample>
  /** No samples where the subject has no such stage. */
  time(stage: Stage, budget: Budget): Promise<Sample[]>
  /** Undefined where the subject does not speak. */
  speak(text: string, frames: number): Promise<Spoken | undefined>
  memory(): Promise<Memory>
}

export interface Request {
  readonly command: keyof Commands
  readonly args: readonly unknown[]
}

export type Answer = { readonly value: unknown } | { readonly error: string }
