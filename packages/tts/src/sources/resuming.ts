import type { LastingBackend, Lease } from '../backend/lasting-backend.ts'
import { gpuLost } from '../errors.ts'
import {
  type FrameSource,
  type NoiseRows,
  type Step,
  type StepOptions,
  samplesOf,
} from '../generate/frame-source.ts'
import { inLockstep } from '../generate/in-lockstep.ts'
import { currentChunk } from './current-chunk.ts'

/** One chunk, and what is needed to come to where it stands again. */
interface Chunk {
  readonly beginning: Parameters<FrameSource['start']>
  readonly signal: AbortSignal | undefined
  /** Those that were handed on. */
  readonly frames: { readonly noise: Float32Array; readonly latent: Float32Array }[]
  losses: number
  /** What it is computed with. */
  at: { readonly lease: Lease; readonly source: FrameSource } | undefined
}

/** A GPU that is lost again while one chunk is spoken may be lost because of it. */
const mostLosses = 1

/**
 * Goes on where the GPU is lost: the chunk is begun again on the backend that comes next, each of its frames made from the
 * latent that was handed on before it, so that states stand where they stood, and then come the frames that are missing.
 * On a GPU of the same kind these are the same, to the bit; on another they differ by rounding.
 */
export class ResumingSource implements FrameSource {
  readonly #backend: LastingBackend
  #chunk: Chunk | undefined

  constructor(backend: LastingBackend) {
    this.#backend = backend
  }

  async start(...beginning: Parameters<FrameSource['start']>): Promise<void> {
    this.#chunk = { beginning, signal: beginning[3], frames: [], losses: 0, at: undefined }
    await this.#begin(this.#chunk)
  }

  async next(previous: Float32Array | null, noise: Float32Array, options: StepOptions): Promise<Step> {
    const chunk = currentChunk(this.#chunk)
    while (true) {
      try {
        const source = chunk.at?.source ?? (await this.#begin(chunk, options))
        return await handedOn(await source.next(previous, noise, options), noise, chunk)
      } catch (error) {
        await this.#lose(chunk, error)
      }
    }
  }

  async *run(noise: NoiseRows, options: StepOptions): AsyncGenerator<Step, void, void> {
    const chunk = currentChunk(this.#chunk)
    const rows = new RepeatableRows(noise)
    while (true) {
      try {
        const source = chunk.at?.source ?? (await this.#begin(chunk, options))
        for await (const step of stepsOf(source, rows, options, chunk.frames.at(-1)?.latent)) {
          yield await handedOn(step, rows.at(chunk.frames.length), chunk)
        }
        return
      } catch (error) {
        await this.#lose(chunk, error)
        rows.goTo(chunk.frames.length)
      }
    }
  }

  async end(): Promise<void> {
    const chunk = this.#chunk
    this.#chunk = undefined
    if (chunk) await leave(chunk)
  }

  /** A source that stands behind the frames that were handed on. */
  async #begin(chunk: Chunk, options?: StepOptions): Promise<FrameSource> {
    while (true) {
      const lease = await this.#backend.lease(chunk.signal)
      const source = lease.backend.createSource()
      chunk.at = { lease, source }
      try {
        await source.start(...chunk.beginning)
        if (options) await repeat(source, chunk, options)
        return source
      } catch (error) {
        await this.#lose(chunk, error)
      }
    }
  }

  /** Lets go of a source whose GPU is gone. Throws the error where that is not what happened, or happened too often. */
  async #lose(chunk: Chunk, error: unknown): Promise<void> {
    chunk.signal?.throwIfAborted()
    if (!chunk.at?.lease.isLoss(error)) throw error
    await leave(chunk)
    if (chunk.losses++ >= mostLosses) throw gpuLost(error)
  }
}

/** Samples that are waited for may fail with the GPU as well. Those that wait for a call are made on the CPU. */
const handedOn = async (step: Step, noise: Float32Array, { frames }: Chunk): Promise<Step> => {
  const pcm = typeof step.pcm === 'function' ? step.pcm : await step.pcm
  frames.push({ noise, latent: step.latent })
  return { ...step, pcm }
}

/** Brings the states of a source that has begun to behind the frames handed on. What it says of them is known. */
const repeat = async (
  source: FrameSource,
  { frames, signal }: Chunk,
  options: StepOptions,
): Promise<void> => {
  let previous: Float32Array | null = null
  for (const { noise, latent } of frames) {
    signal?.throwIfAborted()
    await samplesOf(await source.next(previous, noise, options))
    previous = latent
  }
}

/** The steps to come: run ahead from the beginning, and one by one from elsewhere. */
const stepsOf = (
  source: FrameSource,
  rows: NoiseRows,
  options: StepOptions,
  latest: Float32Array | undefined,
): AsyncIterable<Step> =>
  source.run && !latest ? source.run(rows, options) : inLockstep(source, rows, options, latest)

/** What a source gives back need not work where its GPU is gone. */
const leave = async (chunk: Chunk): Promise<void> => {
  const { at } = chunk
  chunk.at = undefined
  if (!at) return
  try {
    await at.source.end()
  } catch (error) {
    if (!at.lease.isLoss(error)) throw error
  } finally {
    at.lease.release()
  }
}

/** The noise of a chunk, to be had again from any step on. */
class RepeatableRows implements NoiseRows {
  readonly #noise: NoiseRows
  readonly #rows: Float32Array[] = []
  #given = 0

  constructor(noise: NoiseRows) {
    this.#noise = noise
  }

  next(): Float32Array {
    return this.at(this.#given++)
  }

  /** The next row is that of `step`. */
  goTo(step: number): void {
    this.#given = step
  }

  /** The row of `step`. */
  at(step: number): Float32Array {
    while (this.#rows.length <= step) this.#rows.push(this.#noise.next())
    return this.#rows[step]!
  }
}
