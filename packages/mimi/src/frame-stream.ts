import {
  type Kernels,
  type KvCacheOptions,
  type NdArray,
  type Plan,
  type Recording,
  record,
} from '@pocket/nn'
import { MimiError } from './errors.ts'
import { EventLoopTurns } from './event-loop-turns.ts'
import type { FrameNetwork, Tap } from './frame-network.ts'
import { SerialQueue } from './serial-queue.ts'
import { StreamStates } from './stream-states.ts'
import { channelsFirst, joinFrames } from './time-major.ts'

export interface FrameStreamOptions {
  readonly cache: KvCacheOptions
  /** Keep the network's taps readable; costs the memory of all of them. */
  readonly tapped: boolean
}

export interface RunOptions {
  readonly signal?: AbortSignal | undefined
  /** Called after each frame, before the next. */
  readonly afterFrame?: () => Promise<void>
}

/**
 * A network running over a stream, frame by frame: one plan, replayed, and the states that it advances. Calls queue,
 * so that those who do not wait for one another still run in the order of their calls.
 */
export class FrameStream {
  readonly #network: FrameNetwork
  readonly #states: StreamStates
  readonly #plan: Plan
  readonly #queue = new SerialQueue()
  #hasRun = false
  /** Reads the output of a frame that was begun and not ended, before another takes its place. */
  #begun: (() => Promise<unknown>) | undefined
  #disposed = false

  constructor(kernels: Kernels, network: FrameNetwork, { cache, tapped }: FrameStreamOptions) {
    this.#network = network
    this.#states = new StreamStates(kernels, cache)
    try {
      this.#plan = kernels.plan(recordFrame(network, this.#states, tapped))
    } catch (error) {
      this.#states.dispose()
      throw error
    }
  }

  /** Runs whole frames of input, which it copies; gives their outputs, one after another. */
  run(values: Float32Array, options: RunOptions = {}): Promise<Float32Array> {
    const input = values.slice()
    return this.#queue.run(() => this.#runFrames(input, options))
  }

  /**
   * Begins one frame of input, which it copies; the function that it gives ends the frame and gives its output. Between
   * the two other networks of the executor may run beside this one.
   */
  begin(values: Float32Array): Promise<() => Promise<Float32Array>> {
    const input = values.slice()
    return this.#queue.run(() => {
      this.checkAlive()
      this.#keepBegun()
      this.#plan.write(this.#network.input.name, input)
      this.#plan.start()
      this.#hasRun = true
      let output: Promise<NdArray<Float32Array>> | undefined
      const end = (): Promise<NdArray<Float32Array>> => {
        if (output) return output
        this.checkAlive()
        this.#begun = undefined
        output = this.#plan.read(this.#network.output)
        return output
      }
      this.#begun = end
      return async () => (await end()).data
    })
  }

  /** The tap `name` after the last frame, `[time, channels]`, at once: for `afterFrame`, when it is this run's turn. */
  read(name: string): Promise<NdArray<Float32Array>> {
    this.checkTap(name)
    return this.#plan.read(name)
  }

  /** The tap `name` after the last frame, `[channels, time]`. */
  tap(name: string): Promise<NdArray<Float32Array>> {
    return this.#queue.run(async () => {
      this.checkTap(name)
      if (!this.#hasRun) throw new MimiError('no-frame', `tap ${name}: no frame has gone through yet`)
      return channelsFirst(await this.#plan.read(name))
    })
  }

  /** Throws unless `name` can be read. */
  checkTap(name: string): void {
    this.checkAlive()
    const { taps } = this.#plan
    if (taps.includes(name)) return
    throw new MimiError('unknown-tap', `${this.#network.label} has no tap ${name}; it has ${taps.join(', ')}`)
  }

  /** Back to the beginning of a stream, after the calls already made. */
  reset(): void {
    this.checkAlive()
    this.#queue.run(() => this.#states.reset())
  }

  /** Gives the states and the plan back; a run in progress stops after its frame. */
  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    this.#queue.run(() => {
      this.#plan.dispose()
      this.#states.dispose()
    })
  }

  checkAlive(): void {
    if (!this.#disposed) return
    throw new MimiError('disposed', `this ${this.#network.label} was disposed; make another`)
  }

  #keepBegun(): void {
    // Whoever ends the frame hears of a failure.
    this.#begun?.().catch(() => {})
  }

  async #runFrames(values: Float32Array, { signal, afterFrame }: RunOptions): Promise<Float32Array> {
    const { input, output } = this.#network
    const frameLength = input.rows * input.columns
    const frames = values.length / frameLength
    const outputs: Float32Array[] = []
    const turns = new EventLoopTurns()
    for (let frame = 0; frame < frames; frame++) {
      if (frame > 0) await turns.take()
      signal?.throwIfAborted()
      this.checkAlive()
      this.#keepBegun()
      this.#plan.write(input.name, values.subarray(frame * frameLength, (frame + 1) * frameLength))
      this.#plan.run()
      this.#hasRun = true
      outputs.push((await this.#plan.read(output)).data)
      await afterFrame?.()
    }
    return joinFrames(outputs)
  }
}

const recordFrame = (network: FrameNetwork, states: StreamStates, tapped: boolean): Recording => {
  const { label, input, output, describe } = network
  return record(label, (ops) => {
    const tap: Tap = tapped ? (name, x) => ops.tap(name, x) : (_, x) => x
    ops.tap(output, describe(ops, ops.input(input.name, input.rows, input.columns), states, tap))
  })
}
