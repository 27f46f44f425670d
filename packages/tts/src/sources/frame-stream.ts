import type { Recording } from '@pocket/nn'

/** An executor that runs a recording several times a call, as GPUs do it best. */
export interface StreamingExecutor<Stream extends FrameStream = FrameStream> {
  /** Of its states and streams, where they have any. */
  readonly lanes?: number
  stream(recording: Recording, options: FrameStreamOptions): Stream
}

export interface FrameStreamOptions {
  /** Taps that become inputs after each run, where they are: input ← tap. */
  readonly feedback: Record<string, string>
  /** Inputs of which each run gets a row. */
  readonly inputs: string[]
  /** Taps of which each run gives a row. */
  readonly outputs: string[]
}

/** A recording in use. */
export interface FrameStream {
  /** Runs once per element, in order, and gives each run's outputs; several calls may be under way. */
  submit(rows: Record<string, Float32Array>[]): Promise<Record<string, Float32Array>[]>
  /** Sets an input for the runs that are submitted from now on, in one lane where there are lanes. */
  write(name: string, values: Float32Array, lane?: number): void
  dispose(): void
}
