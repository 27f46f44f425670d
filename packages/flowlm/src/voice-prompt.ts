import { type Kernels, type Matrix, type NdArray, ndArray, record } from '@pocket/nn'

/** Makes the rows that a voice is prompted with from the latents of an audio encoder. */
export class VoicePrompt {
  readonly #kernels: Kernels
  /** `[dModel, innerDim]` */
  readonly #projection: Matrix
  /** `bos_before_voice`, `[dModel]`, where prompts of this model begin with it. */
  readonly #bos: Float32Array | undefined

  constructor(kernels: Kernels, projection: Matrix, bos: Float32Array | undefined) {
    this.#kernels = kernels
    this.#projection = projection
    this.#bos = bos
  }

  /** `latents` `[frames, innerDim]` to `[frames, dModel]`, after the BOS row where there is one. */
  async rows(latents: Float32Array, frames: number): Promise<NdArray<Float32Array>> {
    const projected = await this.#project(latents, frames)
    if (!this.#bos) return projected
    const rows = new Float32Array(this.#bos.length + projected.data.length)
    rows.set(this.#bos)
    rows.set(projected.data, this.#bos.length)
    return ndArray(rows, [frames + 1, this.#bos.length])
  }

  async #project(latents: Float32Array, frames: number): Promise<NdArray<Float32Array>> {
    const recording = record('FlowLM speaker projection', (ops) => {
      ops.tap('rows', ops.linear(ops.input('latents', frames, this.#projection.inputs), this.#projection))
    })
    const plan = this.#kernels.plan(recording)
    try {
      plan.write('latents', latents)
      plan.run()
      return await plan.read('rows')
    } finally {
      plan.dispose()
    }
  }
}
