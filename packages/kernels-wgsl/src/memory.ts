import type { Recording, Tensor } from '@pocket/nn'
import type { Place } from './addressing.ts'
import { outOf, readBy, type Step } from './fusion.ts'
import type { Gpu } from './gpu.ts'

/**
 * A buffer for every tensor of a plan. Inputs and taps keep theirs; another tensor's buffer serves again once nobody
 * will read it, but never within a step that still reads it: a dispatch cannot bind one buffer for reading and writing.
 */
export class Memory {
  readonly #gpu: Gpu
  readonly #lanes: number
  readonly #buffers = new Map<Tensor, GPUBuffer>()
  readonly #owned: GPUBuffer[] = []

  constructor(gpu: Gpu, recording: Recording, steps: readonly Step[], lanes: number) {
    this.#gpu = gpu
    this.#lanes = lanes
    this.#assign(recording, steps)
  }

  /** Float32 values of one lane of a tensor, in whole vectors. */
  laneStride({ base }: Tensor): number {
    return Math.ceil((base.rows * base.columns) / 4) * 4
  }

  place(tensor: Tensor): Place {
    const { base, rows, columns, rowOffset, columnOffset } = tensor
    const buffer = this.#buffers.get(base)
    if (!buffer) throw new Error('a tensor of another recording')
    return {
      buffer,
      offset: rowOffset * base.columns + columnOffset,
      rowStride: base.columns,
      laneStride: this.laneStride(tensor),
      rows,
      columns,
    }
  }

  dispose(): void {
    for (const buffer of this.#owned) this.#gpu.free(buffer)
  }

  #assign({ label, inputs, taps }: Recording, steps: readonly Step[]): void {
    const named = [...inputs, ...taps]
    for (const [name, tensor] of named) {
      if (!this.#buffers.has(tensor)) this.#buffers.set(tensor, this.#make(`${label}: ${name}`, tensor))
    }
    const kept = new Set(named.map(([, tensor]) => tensor))
    const lastUse = new Map<Tensor, number>()
    steps.forEach((step, index) => {
      lastUse.set(outOf(step), index)
      for (const { base } of readBy(step)) lastUse.set(base, index)
    })
    const free: GPUBuffer[] = []
    steps.forEach((step, index) => {
      const out = outOf(step)
      if (!kept.has(out))
        this.#buffers.set(out, this.#reuse(free, out) ?? this.#make(`${label}: values`, out))
      for (const base of new Set([out, ...readBy(step).map((tensor) => tensor.base)])) {
        const buffer = this.#buffers.get(base)
        if (buffer && !kept.has(base) && lastUse.get(base) === index) free.push(buffer)
      }
    })
  }

  #bytes(tensor: Tensor): number {
    return this.#lanes * this.laneStride(tensor) * 4
  }

  #make(label: string, tensor: Tensor): GPUBuffer {
    const buffer = this.#gpu.storage(label, this.#bytes(tensor))
    this.#owned.push(buffer)
    return buffer
  }

  /** The smallest free buffer that is large enough. */
  #reuse(free: GPUBuffer[], tensor: Tensor): GPUBuffer | undefined {
    const needed = this.#bytes(tensor)
    let best: number | undefined
    free.forEach(({ size }, index) => {
      const found = best === undefined ? undefined : free[best]
      if (size >= needed && (found === undefined || size < found.size)) best = index
    })
    return best === undefined ? undefined : free.splice(best, 1)[0]
  }
}
