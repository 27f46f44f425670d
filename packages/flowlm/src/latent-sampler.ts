import type { Kernels, Plan } from '@pocket/nn'
import { FlowLmError } from './errors.ts'
import { type FlowHead, recordFlow } from './flow-head.ts'
import { embedInterval, type TimestepEmbedder } from './time-embedding.ts'

/** A step count beyond this is a mistake: its plan alone would take tens of megabytes. */
const mostSteps = 1000

/** Plans kept for step counts in turn; whoever compares more of them pays for new plans. */
const mostPlans = 4

interface FlowPlan {
  readonly plan: Plan
  /** The input `hidden`, `[steps, dModel]`, filled anew in each call. */
  readonly hiddenRows: Float32Array
}

/**
 * Runs the flow head, which has no state: one sampler serves all streams. Between the writing of a plan's inputs and
 * the start of its reading nothing is awaited, so calls cannot get into one another.
 */
export class LatentSampler {
  readonly #kernels: Kernels
  readonly #head: FlowHead
  readonly #embedders: readonly [TimestepEmbedder, TimestepEmbedder]
  /** By step count, the one used last at the end. */
  readonly #plans = new Map<number, FlowPlan>()

  constructor(kernels: Kernels, head: FlowHead, embedders: readonly [TimestepEmbedder, TimestepEmbedder]) {
    this.#kernels = kernels
    this.#head = head
    this.#embedders = embedders
  }

  /** `hidden` `[dModel]` and `noise` `[latentDim]` to a latent `[latentDim]`. Throws FlowLmError `steps`. */
  async sample(hidden: Float32Array, noise: Float32Array, steps: number): Promise<Float32Array> {
    if (!Number.isSafeInteger(steps) || steps < 1 || steps > mostSteps) {
      throw new FlowLmError(
        'steps',
        `${steps} LSD steps asked for, expected a whole number from 1 to ${mostSteps}`,
      )
    }
    const { plan, hiddenRows } = this.#planFor(steps)
    for (let step = 0; step < steps; step++) hiddenRows.set(hidden, step * hidden.length)
    plan.write('hidden', hiddenRows)
    plan.write('noise', noise)
    plan.run()
    return (await plan.read('latent')).data
  }

  #planFor(steps: number): FlowPlan {
    const found = this.#plans.get(steps) ?? this.#makePlan(steps)
    this.#plans.delete(steps)
    this.#plans.set(steps, found)
    const [oldest] = this.#plans.keys()
    if (this.#plans.size > mostPlans && oldest !== undefined) {
      this.#plans.get(oldest)?.plan.dispose()
      this.#plans.delete(oldest)
    }
    return found
  }

  #makePlan(steps: number): FlowPlan {
    const plan = this.#kernels.plan(recordFlow(this.#head, steps))
    const width = this.#head.condition.outputs
    const times = new Float32Array(steps * width)
    for (let step = 0; step < steps; step++) {
      times.set(embedInterval(this.#embedders, step / steps, (step + 1) / steps), step * width)
    }
    plan.write('time', times)
    return { plan, hiddenRows: new Float32Array(steps * this.#head.condition.inputs) }
  }
}
