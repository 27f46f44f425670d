/// <reference types="@webgpu/types" />
import { KernelError } from '@pocket/nn'
import type { Capabilities } from './capabilities.ts'
import { usage } from './constants.ts'
import { Pipelines } from './pipelines.ts'
import { StagingPool, type Stretch } from './staging-pool.ts'
import { Timeline } from './timeline.ts'

/** A device and what its executors share: pipelines, the order of work, buffers to read back through. */
export class Gpu {
  readonly device: GPUDevice
  readonly capabilities: Capabilities
  readonly pipelines: Pipelines
  readonly timeline = new Timeline()
  readonly staging: StagingPool
  readonly #buffers = new Set<GPUBuffer>()
  readonly #owned: boolean
  #lost: string | undefined
  #disposed = false

  /** `owned`: whether `dispose` also ends the device. */
  constructor(device: GPUDevice, capabilities: Capabilities, owned: boolean) {
    this.device = device
    this.#owned = owned
    this.capabilities = capabilities
    this.pipelines = new Pipelines(device)
    this.staging = new StagingPool(this)
    device.lost.then(({ message, reason }) => {
      // Its own end is no loss.
      if (!this.#disposed) this.#lost = message || reason || 'no reason given'
    })
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

  buffer(label: string, bytes: number, flags: number): GPUBuffer {
    this.checkAlive()
    const size = Math.max(16, Math.ceil(bytes / 4) * 4)
    const { maxBufferSize, maxStorageBufferBindingSize } = this.device.limits
    const most = Math.min(maxBufferSize, maxStorageBufferBindingSize)
    if (size > most) {
      throw new KernelError(
        'out-of-memory',
        `${label} takes ${size} bytes, this device binds at most ${most} at once`,
      )
    }
    const buffer = this.device.createBuffer({ label, size, usage: flags })
    this.#buffers.add(buffer)
    return buffer
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
    const staging = await this.timeline.enqueue(undefined, () => {
      const staging = this.staging.take(bytes)
      const encoder = this.device.createCommandEncoder({ label: 'read' })
      let to = 0
      for (const stretch of stretches) {
        encoder.copyBufferToBuffer(stretch.buffer, stretch.offset, staging, to, stretch.bytes)
        to += stretch.bytes
      }
      this.device.queue.submit([encoder.finish()])
      return staging
    })
    const data = await this.staging.collect(staging, bytes)
    let from = 0
    return stretches.map((stretch) => {
      const values = new Float32Array(data, from, stretch.bytes / 4)
      from += stretch.bytes
      return values
    })
  }

  free(buffer: GPUBuffer): void {
    if (!this.#buffers.delete(buffer)) return
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

  /** Gives all buffers back; the device stays open. */
  release(): void {
    this.#disposed = true
    for (const buffer of [...this.#buffers]) this.free(buffer)
  }
}
