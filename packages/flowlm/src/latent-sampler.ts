import type { Kernels, Operations, Plan, Tensor } from '@pocket/nn'
import { FlowLmError } from './errors.ts'
import { type FlowHead, flow, recordFlow } from './flow-head.ts'
import { embedSteps, type TimestepEmbedder } from './time-embedding.ts'

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
    checkSteps(steps)
    const { plan, hiddenRows } = this.#planFor(steps)
    for (let step = 0; step < steps; step++) hiddenRows.set(hidden, step * hidden.length)
    plan.write('hidden', hiddenRows)
    plan.write('noise', noise)
    plan.run()
    return (await plan.read('latent')).data
  }

  /**
   * The same within a recording of the caller's own: `hidden` `[1, dModel]` and `noise` `[1, latentDim]` to a latent
   * `[1, latentDim]`. `time` are the rows of `times(steps)`.
   */
  describe(ops: Operations, hidden: Tensor, noise: Tensor, time: Tensor): Tensor {
    return flow(ops, this.#head, { hidden, time, noise })
  }

  /** The timestep embeddings of `steps` steps, `[steps, flowDim]`. Throws FlowLmError `steps`. */
  times(steps: number): Float32Array {
    checkSteps(steps)
    return embedSteps(this.#embedders, steps)
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
    plan.write('time', embedSteps(this.#embedders, steps))
    return { plan, hiddenRows: new Float32Array(steps * this.#head.condition.inputs) }
  }
}

const checkSteps = (steps: number): void => {
  if (Number.isSafeInteger(steps) && steps >= 1 && steps <= mostSteps) return
  throw new FlowLmError(
    'steps',
    `${steps} LSD steps asked for, expected a whole number from 1 to ${mostSteps}`,
  )
}
