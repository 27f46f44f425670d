import {
  type ChunkContext,
  type ChunkState,
  driveChunk,
  type SpokenChunk,
  type SpokenFrame,
} from './drive-chunk.ts'
import type { FrameSource } from './frame-source.ts'
import type { KeptNoise } from './kept-noise.ts'
import type { PlannedChunk } from './plan-text.ts'

/** Where chunks are made beside the one that is heard. */
export interface Aside {
  /** Chunks that are being made or wait to be heard at a time, at least 1: what waits is in memory. */
  readonly most: number
  /** One for each chunk. */
  createSource(): FrameSource
}

interface AheadContext extends Omit<ChunkContext, 'source'> {
  readonly aside: Aside
  readonly noiseFor: (index: number) => KeptNoise
}

/**
 * Chunks that are made side by side and handed on in order. The first begins alone; the others follow when its first
 * frame has been handed on, which so waits for none of them. Leaving the iteration stops all.
 */
export async function* makeAhead(
  chunks: readonly PlannedChunk[],
  context: AheadContext,
): AsyncGenerator<SpokenChunk, void, void> {
  const { most } = context.aside
  const begun: ChunkAhead[] = []
  let next = 0
  const beginUpTo = (count: number): void => {
    while (next < chunks.length && begun.length < count) {
      begun.push(new ChunkAhead(chunks[next]!, context.noiseFor(next), context))
      next++
    }
  }
  try {
    while (next < chunks.length || begun.length > 0) {
      beginUpTo(1)
      const [heard] = begun
      if (!heard) return
      yield { chunk: heard.chunk, state: heard.state, frames: heard.read(() => beginUpTo(most)) }
      begun.shift()
    }
  } finally {
    await Promise.all(begun.map((ahead) => ahead.stop()))
  }
}

/** A chunk that is made to its end whether somebody listens or not. */
class ChunkAhead {
  readonly chunk: PlannedChunk
  /** How it stands with who listens. */
  readonly state: ChunkState = { frames: 0, eosStep: null }
  readonly #made: SpokenFrame[] = []
  readonly #stop = new AbortController()
  readonly #pumped: Promise<void>
  #end: { readonly error?: unknown } | undefined
  #wake = (): void => {}

  constructor(chunk: PlannedChunk, noise: KeptNoise, { aside, voice, settings, signal }: AheadContext) {
    this.chunk = chunk
    const source = aside.createSource()
    const own = AbortSignal.any([signal, this.#stop.signal])
    const frames = driveChunk(chunk, this.state, noise, { source, voice, settings, signal: own })
    this.#pumped = this.#pump(frames)
  }

  /** Its frames, as they come. `onHeard` is called when whoever listens has had one and wants the next. */
  async *read(onHeard: () => void): AsyncGenerator<SpokenFrame, void, void> {
    while (true) {
      const frame = this.#made.shift()
      if (frame) {
        yield frame
        onHeard()
      } else if (!this.#end) await this.#change()
      else if ('error' in this.#end) throw this.#end.error
      else return
    }
  }

  /** Gives back what it takes; resolves when that is done. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#pumped
  }

  async #pump(frames: AsyncIterable<SpokenFrame>): Promise<void> {
    try {
      for await (const frame of frames) {
        this.#made.push(frame)
        this.#wake()
      }
      this.#end = {}
    } catch (error) {
      this.#end = { error }
    }
    this.#wake()
  }

  /** Resolves when there is a frame, or the end. */
  async #change(): Promise<void> {
    if (this.#made.length > 0 || this.#end) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }
}
