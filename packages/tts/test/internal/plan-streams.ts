import { type Kernels, nextTurn, type Plan, type Recording } from '@pocket/nn'
import type { FrameStream, FrameStreamOptions, StreamingExecutor } from '../../src/sources/frame-stream.ts'

/**
 * Streams on any executor: each run of a plan takes a turn of the event loop, so that calls are under way together as
 * they are on a GPU.
 */
export class PlanStreams implements StreamingExecutor {
  readonly #kernels: Kernels
  /** Runs so far, of all streams. */
  runs = 0
  /** The runs of each submit. */
  readonly submits: number[] = []
  /** Streams that are not disposed. */
  open = 0

  constructor(kernels: Kernels) {
    this.#kernels = kernels
  }

  stream(recording: Recording, options: FrameStreamOptions): FrameStream {
    const plan = this.#kernels.plan(recording)
    this.open++
    let last: Promise<unknown> = Promise.resolve()
    let alive = true
    const run = async (row: Record<string, Float32Array>): Promise<Record<string, Float32Array>> => {
      await nextTurn()
      if (!alive) throw new Error('the stream was disposed')
      for (const [name, values] of Object.entries(row)) plan.write(name, values)
      plan.run()
      this.runs++
      for (const [input, tap] of Object.entries(options.feedback))
        plan.write(input, await readValues(plan, tap))
      const outputs = options.outputs.map(async (name) => [name, await readValues(plan, name)] as const)
      return Object.fromEntries(await Promise.all(outputs))
    }
    return {
      submit: (rows) => {
        this.submits.push(rows.length)
        const result = last.then(async () => {
          const outputs: Record<string, Float32Array>[] = []
          for (const row of rows) outputs.push(await run(row))
          return outputs
        })
        last = result.catch(() => {})
        return result
      },
      write: (name, values) => plan.write(name, values),
      dispose: () => {
        alive = false
        this.open--
        plan.dispose()
      },
    }
  }
}

const readValues = async (plan: Plan, name: string): Promise<Float32Array> => (await plan.read(name)).data
