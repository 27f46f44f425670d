import { KernelError } from '@pocket/nn'
import { nudged } from './completion.ts'
import { mapModeRead, usage } from './constants.ts'

/** A stretch of a buffer on the device. */
export interface Stretch {
  readonly buffer: GPUBuffer
  readonly offset: number
  readonly bytes: number
}

/** What the pool needs of a device's owner. */
interface Host {
  readonly device: GPUDevice
  readonly isLost: boolean
  /** Whether the engine tells of completion only where something is submitted. */
  readonly hasToBeNudged: boolean
  buffer(label: string, bytes: number, flags: number): GPUBuffer
  free(buffer: GPUBuffer): void
  checkMemory(buffers: Iterable<GPUBuffer>): Promise<void>
  lostError(cause: unknown): KernelError
}

const leastBytes = 256

/** The size of a buffer for `bytes`: powers of two, so that few buffers serve all. */
export const roomFor = (bytes: number): number => 2 ** Math.ceil(Math.log2(Math.max(bytes, leastBytes)))

/** Buffers that results are read through: as many as there are reads under way at once, then used again. */
export class StagingPool {
  readonly #host: Host
  readonly #free = new Map<number, GPUBuffer[]>()

  constructor(host: Host) {
    this.#host = host
  }

  /** A buffer of at least `bytes` that `submit` has submitted the filling of; where that throws, none is taken. */
  fill(bytes: number, submit: (staging: GPUBuffer) => void): GPUBuffer {
    const staging = this.#take(roomFor(bytes))
    try {
      submit(staging)
      return staging
    } catch (error) {
      this.#giveBack(staging)
      throw error
    }
  }

  /** What stands in the first `bytes` of a staging buffer once the work submitted has been done; takes the buffer back. */
  async collect(buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    try {
      const mapped = buffer.mapAsync(mapModeRead, 0, Math.ceil(bytes / 4) * 4)
      await (this.#host.hasToBeNudged ? nudged(this.#host.device.queue, mapped) : mapped)
    } catch (cause) {
      await this.#host.checkMemory([buffer]).finally(() => this.#host.free(buffer))
      // A lost device rejects this before its own promise has told.
      await Promise.race([this.#host.device.lost, new Promise((resolve) => setTimeout(resolve, 50))])
      if (this.#host.isLost) throw this.#host.lostError(cause)
      throw new KernelError('disposed', 'a result was not read: the executor was disposed', { cause })
    }
    const copy = buffer.getMappedRange(0, Math.ceil(bytes / 4) * 4).slice(0)
    buffer.unmap()
    this.#giveBack(buffer)
    return copy
  }

  #take(size: number): GPUBuffer {
    return (
      this.#free.get(size)?.pop() ?? this.#host.buffer('staging', size, usage.mapRead | usage.copyDestination)
    )
  }

  #giveBack(buffer: GPUBuffer): void {
    const free = this.#free.get(buffer.size)
    if (free) free.push(buffer)
    else this.#free.set(buffer.size, [buffer])
  }
}
