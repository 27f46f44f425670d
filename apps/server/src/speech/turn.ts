import type { AudioFrame } from '@pocket/tts'

/** How an utterance came out. */
export interface Outcome {
  readonly result: 'spoken' | 'stopped' | 'failed'
  /** Frames of 80 ms that were made. */
  readonly frames: number
  readonly waitedMs: number
  /** From the beginning of the turn to the first frame; undefined where there was none. */
  readonly firstFrameMs: number | undefined
  readonly spokeMs: number
  /** Codes of what went less well than it should have. */
  readonly warnings: readonly string[]
  readonly error?: unknown
}

/** One utterance while it has its turn: it ends once, when all is spoken, when `signal` is aborted, or by an error. */
export class Turn {
  /** Aborted when the caller has left, or all work is to stop. */
  readonly signal: AbortSignal
  readonly warnings: string[] = []
  frames = 0
  readonly #caller: AbortSignal
  readonly #waitedMs: number
  readonly #start = performance.now()
  readonly #onEnd: (outcome: Outcome) => void
  #source: AsyncIterator<AudioFrame> | undefined
  #firstFrameMs: number | undefined
  #isOver = false
  readonly #stop = (): void => {
    this.#end('stopped')
    this.#source?.return?.().catch(() => {})
  }

  /** `caller` is aborted when the caller has left, `stop` when all work is to stop. */
  constructor(
    waitedMs: number,
    { caller, stop }: { caller: AbortSignal; stop: AbortSignal },
    onEnd: (outcome: Outcome) => void,
  ) {
    this.#waitedMs = waitedMs
    this.#caller = caller
    this.signal = AbortSignal.any([caller, stop])
    this.#onEnd = onEnd
    this.signal.addEventListener('abort', this.#stop)
  }

  /** The samples of the frames, once the first of them is there; cancelling it ends the turn. */
  async begin(frames: AsyncIterator<AudioFrame>): Promise<ReadableStream<Float32Array>> {
    this.#source = frames
    const first = await frames.next()
    this.#firstFrameMs = performance.now() - this.#start
    let next: typeof first | undefined = first
    const pull = async (controller: ReadableStreamDefaultController<Float32Array>): Promise<void> => {
      const { done, value } = next ?? (await this.#take(frames))
      next = undefined
      if (!done) {
        if (value.pcm.length > 0) this.frames++
        controller.enqueue(value.pcm)
      } else if (!this.#isOver) {
        this.#end('spoken')
        controller.close()
      } else if (this.#caller.aborted) {
        // Nobody is there to be told: whoever serves the stream will cancel it. A promise of its own, which goes when the
        // stream does: one for all would keep every stream that ever waited for it.
        await new Promise<never>(() => {})
      } else {
        // Speech that was cut off must not look as if it were whole. The original error may quote the text, and whoever
        // serves the stream may print it.
        throw new Error('the speech broke off')
      }
    }
    return new ReadableStream({ pull, cancel: this.#stop }, { highWaterMark: 0 })
  }

  fail(error: unknown): void {
    this.#end('failed', error)
  }

  async #take(frames: AsyncIterator<AudioFrame>): Promise<IteratorResult<AudioFrame>> {
    try {
      return await frames.next()
    } catch (error) {
      this.fail(error)
      return { done: true, value: undefined }
    }
  }

  #end(result: Outcome['result'], error?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.signal.removeEventListener('abort', this.#stop)
    this.#onEnd({
      result,
      frames: this.frames,
      waitedMs: this.#waitedMs,
      firstFrameMs: this.#firstFrameMs,
      spokeMs: performance.now() - this.#start,
      warnings: this.warnings,
      error,
    })
  }
}
