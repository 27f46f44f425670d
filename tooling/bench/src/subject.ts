/** What is timed by itself, in the order of the table. */
export const stages = ['prompt', 'step', 'flow', 'decode', 'encode'] as const

/**
 * `prompt`: the language model reads 50 tokens after a voice of ten seconds (`sizes.ts`). `step`: its backbone makes one frame.
 * `flow`: the flow head makes the frame's latent, in one step. `decode`: the codec makes 80 ms of sound of it.
 * `encode`: the codec makes a latent of 80 ms of sound.
 */
export type Stage = (typeof stages)[number]

/** One stage, ready to be run many times. */
export interface Work {
  /** Before each run, and not timed. */
  ready?(): void
  run(): Promise<unknown>
  /** After the last run. */
  dispose(): void
}

/** Something that speaks, or does parts of it. Every kind of it is a module in `subjects/` that exports `open`. */
export interface Subject {
  /** Undefined for a stage that it does not have, or that cannot be told from others. */
  prepare(stage: Stage): Promise<Work | undefined>
  /** The text, as frames of sound; the caller stops when it has heard enough. Missing where there are only parts. */
  speak?(text: string): AsyncIterable<{ readonly pcm: Float32Array }>
  /** Bytes of its WebAssembly memories; undefined where it has none. */
  wasmBytes(): number | undefined
}

/** Names a subject to another process. */
export interface SubjectName {
  /** A module in `subjects/`, without its extension. */
  readonly module: string
  /** Handed to its `open`; must survive JSON. */
  readonly settings: unknown
}

export interface SubjectModule<Settings = unknown> {
  /** What it does until it resolves is the time to load. */
  open(settings: Settings): Promise<Subject>
}
