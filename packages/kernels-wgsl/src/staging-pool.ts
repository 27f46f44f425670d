import { KernelError } from '@pocket/nn'
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
  buffer(label: string, bytes: number, flags: number): GPUBuffer
  lostError(cause: unknown): KernelError
}

/** Sizes of staging buffers are powers of two from here on, so that few of them serve all. */
const leastBytes = 256

/** Buffers that results are read through: as many as there are reads under way at once, then used again. */
export class StagingPool {
  readonly #host: Host
  readonly #free = new Map<number, GPUBuffer[]>()

  constructor(host: Host) {
    this.#host = host
  }

  take(bytes: number): GPUBuffer {
    const size = 2 ** Math.ceil(Math.log2(Math.max(bytes, leastBytes)))
    return (
      this.#free.get(size)?.pop() ?? this.#host.buffer('staging', size, usage.mapRead | usage.copyDestination)
    )
  }

  /** What stands in the first `bytes` of a staging buffer once the work submitted has been done; takes the buffer back. */
  async collect(buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    try {
      await awaitCompletion(this.#host.device, buffer.mapAsync(mapModeRead, 0, Math.ceil(bytes / 4) * 4))
    } catch (cause) {
      // A lost device rejects this before its own promise has told.
      await Promise.race([this.#host.device.lost, new Promise((resolve) => setTimeout(resolve, 50))])
      if (this.#host.isLost) throw this.#host.lostError(cause)
      throw new KernelError('disposed', 'a result was not read: the executor was disposed', { cause })
    }
    const copy = buffer.getMappedRange(0, Math.ceil(bytes / 4) * 4).slice(0)
    buffer.unmap()
    this.#release(buffer)
    return copy
  }

  #release(buffer: GPUBuffer): void {
    const free = this.#free.get(buffer.size)
    if (free) free.push(buffer)
    else this.#free.set(buffer.size, [buffer])
  }
}

/** Beyond this wait the queue is nudged: long enough for every engine that tells of completion by itself. */
const patience = 2

/**
 * Waits for `completion`. Firefox looks for finished work only every 100 ms, unless something is submitted: empty
 * submissions make it look (ekzhang/jax-js#123).
 */
const awaitCompletion = async (device: GPUDevice, completion: Promise<unknown>): Promise<void> => {
  if (!polls()) {
    await completion
    return
  }
  let waiting = true
  const nudge = (): void => {
    if (!waiting) return
    device.queue.submit([])
    setTimeout(nudge, patience)
  }
  setTimeout(nudge, patience)
  try {
    await completion
  } finally {
    waiting = false
  }
}

const polls = (): boolean => /\bFirefox\//.test(globalThis.navigator?.userAgent ?? '')
