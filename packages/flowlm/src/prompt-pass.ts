import { type Kernels, type KvCache, type NdArray, ndArray, type Plan, type PlanOptions } from '@pocket/nn'
import { type Backbone, layerTap, promptEndInputs, recordPrompt, recordPromptEnd } from './backbone.ts'

/**
 * One pass over the rows of a prompt, made for what it leaves in the caches. What the last layer would do after that,
 * an eighth of the work with six layers, is done when somebody reads it.
 */
export class PromptPass implements Pick<Plan, 'taps' | 'read' | 'dispose'> {
  readonly taps: readonly string[]
  readonly #kernels: Kernels
  readonly #backbone: Backbone
  readonly #rows: number
  /** Rows of the last run; what fills up the pass is nobody's. */
  #given = 0
  readonly #plan: Plan

  constructor(
    kernels: Kernels,
    backbone: Backbone,
    caches: readonly KvCache[],
    rows: number,
    options?: PlanOptions,
  ) {
    this.taps = ['embed', ...backbone.layers.map((_, index) => layerTap(index)), 'hidden']
    this.#kernels = kernels
    this.#backbone = backbone
    this.#rows = rows
    this.#plan = kernels.plan(recordPrompt(backbone, caches, rows), options)
  }

  /** `embeddings` `[given, dModel]` of as many rows as the pass has, or fewer, which zeros fill up. */
  run(embeddings: Float32Array, given: number, options?: PlanOptions): void {
    this.#given = given
    this.#plan.write('embed', this.#filledUp(embeddings, given))
    this.#plan.run(options)
  }

  /** `[given, dModel]`, of one of `taps`. */
  async read(name: string): Promise<NdArray<Float32Array>> {
    const given = this.#given
    const all = await (this.#plan.taps.includes(name) ? this.#plan.read(name) : this.#readEnd(name))
    if (given === this.#rows) return all
    const columns = all.data.length / this.#rows
    return ndArray(all.data.slice(0, given * columns), [given, columns])
  }

  dispose(): void {
    this.#plan.dispose()
  }

  #filledUp(embeddings: Float32Array, given: number): Float32Array {
    if (given === this.#rows) return embeddings
    const rows = new Float32Array((embeddings.length / given) * this.#rows)
    rows.set(embeddings)
    return rows
  }

  async #readEnd(name: string): Promise<NdArray<Float32Array>> {
    const inputs = promptEndInputs(this.#backbone)
    // Both reads start now: another pass may take this one's place before they end.
    const values = await Promise.all(inputs.map((input) => this.#plan.read(input)))
    const end = this.#kernels.plan(recordPromptEnd(this.#backbone, this.#rows))
    try {
      inputs.forEach((input, index) => {
        end.write(input, values[index]!.data)
      })
      end.run()
      return await end.read(name)
    } finally {
      end.dispose()
    }
  }
}
