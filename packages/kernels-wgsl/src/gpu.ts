/// <reference types="@webgpu/types" />
import { KernelError } from '@pocket/nn'
import { type Capabilities, retuned, type Tuning } from './capabilities.ts'
import { usage } from './constants.ts'
import { Pipelines } from './pipelines.ts'
import { roomFor, StagingPool, type Stretch } from './staging-pool.ts'
import { Timeline } from './timeline.ts'

export interface GpuOptions {
  readonly capabilities: Capabilities
  /** Whether `dispose` also ends the device. */
  readonly owned: boolean
  readonly hasToBeNudged: boolean
}

/** A device and what its executors share: pipelines, the order of work, buffers to read back through. */
export class Gpu {
  readonly device: GPUDevice
  readonly pipelines: Pipelines
  readonly timeline = new Timeline()
  readonly staging: StagingPool
  /** Whether the engine tells of completion only where something is submitted: see completion.ts. */
  readonly hasToBeNudged: boolean
  readonly #buffers = new Set<GPUBuffer>()
  readonly #owned: boolean
  /** Buffers of the constructions under way, the innermost last. */
  readonly #under: GPUBuffer[][] = []
  /** Whether the device had memory for buffers, where it has not said so yet. */
  readonly #allocations = new Set<Promise<void>>()
  /** Buffers that the device had no memory for. */
  readonly #missing = new Set<GPUBuffer>()
  /** What the device has. */
  readonly #found: Capabilities
  #tuning: Tuning
  #lost: string | undefined
  #disposed = false

  constructor(device: GPUDevice, { capabilities, owned, hasToBeNudged }: GpuOptions) {
    this.device = device
    this.#owned = owned
    this.hasToBeNudged = hasToBeNudged
    this.#found = capabilities
    this.#tuning = capabilities.tuning
    this.pipelines = new Pipelines(device)
    this.staging = new StagingPool(this)
    device.lost.then(({ message, reason }) => {
      // Its own end is no loss.
      if (!this.#disposed) this.#lost = message || reason || 'no reason given'
    })
  }

  /** What kernels to come may use, and how work is cut for them. */
  get capabilities(): Capabilities {
    const subgroups = this.#tuning.subgroups ? this.#found.subgroups : undefined
    return { ...this.#found, subgroups, tuning: { ...this.#tuning, subgroups: subgroups !== undefined } }
  }

  /** Cuts the work of plans and streams to come in another way. Throws KernelError `shape`. */
  retune(change: Partial<Tuning>): void {
    this.#tuning = retuned(this.#tuning, change)
  }

  /** Bytes of all buffers that are in use. */
  get bytes(): number {
    let sum = 0
    for (const { size } of this.#buffers) sum += size
    return sum
  }

  /** A storage buffer of zeros. Throws KernelError `out-of-memory` where no device could have one of this size. */
  storage(label: string, bytes: number, extra = 0): GPUBuffer {
    return this.buffer(label, bytes, usage.storage | usage.copySource | usage.copyDestination | extra)
  }

  /** A buffer with `data` in it. */
  store(label: string, data: ArrayBufferView): GPUBuffer {
    const buffer = this.storage(label, data.byteLength)
    this.write(buffer, 0, data)
    return buffer
  }

  /** Throws KernelError `out-of-memory` where no buffer can have as many bytes. */
  checkSize(label: string, bytes: number): void {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.device.limits
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize)
    if (bytes <= most) return
    throw new KernelError(
      'out-of-memory',
      `${label} takes ${bytes} bytes, this device binds at most ${most} at once`,
    )
  }

  buffer(label: string, bytes: number, flags: number): GPUBuffer {
    this.checkAlive()
    const size = Math.max(16, Math.ceil(bytes / 4) * 4)
    this.checkSize(label, size)
    const buffer = this.#allocate({ label, size, usage: flags })
    this.#buffers.add(buffer)
    this.#under.at(-1)?.push(buffer)
    return buffer
  }

  /** What `make` makes, whole or not at all: where it throws, the buffers that it had made are given back. */
  whole<T>(make: () => T): T {
    const made: GPUBuffer[] = []
    this.#under.push(made)
    let finished = false
    try {
      const result = make()
      finished = true
      return result
    } finally {
      this.#under.pop()
      if (finished) this.#under.at(-1)?.push(...made)
      else for (const buffer of made) this.free(buffer)
    }
  }

  /**
   * Resolves when the device has told of all buffers asked for so far whether it had memory for them. Throws KernelError
   * `out-of-memory` where one of `buffers` is among those that it had none for: what was computed with it means nothing.
   */
  async checkMemory(buffers: Iterable<GPUBuffer>): Promise<void> {
    if (this.#allocations.size > 0) await Promise.all(this.#allocations)
    if (this.#missing.size === 0) return
    for (const buffer of buffers) {
      if (!this.#missing.has(buffer)) continue
      throw new KernelError(
        'out-of-memory',
        `the GPU has no memory left for ${buffer.label}, ${buffer.size} bytes: dispose of what is not needed`,
      )
    }
  }

  /** Writes at once, in the queue's order. Data that is no multiple of four bytes long is padded with zeros. */
  write(buffer: GPUBuffer, offset: number, data: ArrayBufferView): void {
    const whole = data.byteLength & ~3
    const { queue } = this.device
    if (whole > 0) queue.writeBuffer(buffer, offset, data.buffer as ArrayBuffer, data.byteOffset, whole)
    if (whole === data.byteLength) return
    const tail = new Uint8Array(4)
    tail.set(new Uint8Array(data.buffer, data.byteOffset + whole, data.byteLength - whole))
    queue.writeBuffer(buffer, offset + whole, tail)
  }

  /** What stands in stretches of buffers after all work given so far, as float32 values. */
  async read(stretches: readonly Stretch[]): Promise<Float32Array[]> {
    this.checkAlive()
    const bytes = stretches.reduce((sum, stretch) => sum + stretch.bytes, 0)
    this.checkSize('what is read', roomFor(bytes))
    const copyTo = (staging: GPUBuffer): void => {
      const encoder = this.device.createCommandEncoder({ label: 'read' })
      let to = 0
      for (const stretch of stretches) {
        encoder.copyBufferToBuffer(stretch.buffer, stretch.offset, staging, to, stretch.bytes)
        to += stretch.bytes
      }
      this.device.queue.submit([encoder.finish()])
    }
    const staging = await this.timeline.enqueue(undefined, () => this.staging.fill(bytes, copyTo))
    const data = await this.staging.collect(staging, bytes)
    await this.checkMemory(stretches.map(({ buffer }) => buffer))
    let from = 0
    return stretches.map((stretch) => {
      const values = new Float32Array(data, from, stretch.bytes / 4)
      from += stretch.bytes
      return values
    })
  }

  free(buffer: GPUBuffer): void {
    if (!this.#buffers.delete(buffer)) return
    this.#missing.delete(buffer)
    buffer.destroy()
  }

  /** Throws KernelError `disposed` or `device-lost`. */
  checkAlive(): void {
    if (this.#disposed) throw new KernelError('disposed', 'this executor was disposed')
    if (this.#lost !== undefined) throw this.lostError()
  }

  lostError(cause?: unknown): KernelError {
    return new KernelError(
      'device-lost',
      `the GPU is gone (${this.#lost ?? 'it stopped answering'}): make another executor and load the weights again`,
      { cause },
    )
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  dispose(): void {
    if (this.#disposed) return
    this.release()
    if (this.#owned) this.device.destroy()
  }

  /** A device tells of a lack of memory later, and beside the call; the buffer is then one that nothing can use. */
  #allocate(descriptor: GPUBufferDescriptor): GPUBuffer {
    this.device.pushErrorScope('out-of-memory')
    let told: Promise<GPUError | null> | undefined
    try {
      const buffer = this.device.createBuffer(descriptor)
      told = this.device.popErrorScope()
      const known: Promise<void> = told
        .then(
          (error) => {
            if (error && this.#buffers.has(buffer)) this.#missing.add(buffer)
          },
          // A device that is lost has more to tell than this.
          () => {},
        )
        .then(() => {
          this.#allocations.delete(known)
        })
      this.#allocations.add(known)
      return buffer
    } finally {
      if (!told) this.device.popErrorScope().catch(() => {})
    }
  }

  /** Gives all buffers back; the device stays open. */
  release(): void {
    this.#disposed = true
    for (const buffer of [...this.#buffers]) this.free(buffer)
  }
}
