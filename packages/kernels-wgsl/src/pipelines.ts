import { computeStage } from './constants.ts'
import type { Binding, Program } from './program.ts'

export interface Pipeline {
  readonly pipeline: GPUComputePipeline
  readonly layout: GPUBindGroupLayout
}

/** Pipelines by source: compiled once, side by side, and never in the way of the calling thread. */
export class Pipelines {
  readonly #device: GPUDevice
  readonly #bySource = new Map<string, Promise<Pipeline>>()
  readonly #layouts = new Map<string, GPUBindGroupLayout>()
  readonly #compiled = new Map<string, Pipeline>()

  constructor(device: GPUDevice) {
    this.#device = device
  }

  get(program: Program): Promise<Pipeline> {
    let pending = this.#bySource.get(program.source)
    if (!pending) {
      pending = this.#compile(program)
      this.#bySource.set(program.source, pending)
      // Whoever waits hears of a failure; this only keeps it from being reported as nobody's.
      pending.catch(() => {})
    }
    return pending
  }

  /** The pipeline if it is compiled already. */
  peek({ source }: Program): Pipeline | undefined {
    return this.#compiled.get(source)
  }

  /** What `work` asks for is forgotten again where it gives nothing: whoever has a pipeline keeps it. */
  async keepIf<T>(work: () => Promise<T | undefined>): Promise<T | undefined> {
    const before = new Set(this.#bySource.keys())
    let result: T | undefined
    try {
      result = await work()
      return result
    } finally {
      if (result === undefined) this.#forgetAllBut(before)
    }
  }

  /** Resolves when all pipelines asked for so far are compiled. */
  async ready(onProgress?: (progress: { done: number; total: number }) => void): Promise<void> {
    const pending = [...this.#bySource.values()]
    let done = 0
    await Promise.all(
      pending.map(async (pipeline) => {
        await pipeline
        onProgress?.({ done: ++done, total: pending.length })
      }),
    )
  }

  #forgetAllBut(sources: ReadonlySet<string>): void {
    for (const source of [...this.#bySource.keys()]) {
      if (sources.has(source)) continue
      this.#bySource.delete(source)
      this.#compiled.delete(source)
    }
  }

  async #compile({ name, source, bindings }: Program): Promise<Pipeline> {
    const layout = this.#layout(bindings)
    const pipeline = await this.#device.createComputePipelineAsync({
      label: name,
      layout: this.#device.createPipelineLayout({ label: name, bindGroupLayouts: [layout] }),
      compute: { module: this.#device.createShaderModule({ label: name, code: source }) },
    })
    const compiled = { pipeline, layout }
    this.#compiled.set(source, compiled)
    return compiled
  }

  /** Explicit: an automatic layout drops bindings that a shader happens not to read. */
  #layout(bindings: readonly Binding[]): GPUBindGroupLayout {
    const label = bindings.map(({ access }) => access).join(', ')
    let layout = this.#layouts.get(label)
    if (!layout) {
      layout = this.#device.createBindGroupLayout({
        label,
        entries: bindings.map(({ access }, binding) => ({
          binding,
          visibility: computeStage,
          buffer: {
            type: access === 'read_write' ? 'storage' : 'read-only-storage',
            hasDynamicOffset: access === 'control',
          },
        })),
      })
      this.#layouts.set(label, layout)
    }
    return layout
  }
}
