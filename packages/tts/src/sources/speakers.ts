import type { KvSnapshot } from '@pocket/flowlm'
import type { FrameStream, StreamingExecutor } from './frame-stream.ts'
import type { SharedVoices } from './shared-voices.ts'
import { Speaker, type SpeakingModel } from './speaker.ts'

/** Where a source has its speakers from, one for each chunk. */
export interface Speakers {
  /** One that has room for `capacity` positions. */
  take(kv: KvSnapshot, capacity: number): Speaker
  /** Has it begin with a voice, that of `take`, and a text. */
  begin(speaker: Speaker, kv: KvSnapshot, ids: Uint32Array): Promise<void>
  /** Once for each that was taken, whatever became of it. */
  giveBack(speaker: Speaker, kv: KvSnapshot): void
}

/** One for each chunk, made for it. */
export const freshSpeakers = (model: SpeakingModel, executor: StreamingExecutor): Speakers => ({
  take: (kv, capacity) => new Speaker(model, executor, model.flowLm.createState({ adopt: kv, capacity })),
  begin: ({ state }, _, ids) => model.flowLm.promptTokens(ids, state),
  giveBack: (speaker) => speaker.dispose(),
})

/** So that the next text, which is of another length, finds room: a voice of ten seconds and a usual chunk are 410. */
const capacityStep = 512

/** What is larger is not kept: of the usual model a position takes 49 kB. */
const mostKept = 1024

/**
 * Keeps the speaker that was used last for the next chunk, since to make one takes longer than many frames do. For
 * executors whose states have lanes, were it only one.
 */
export class KeptSpeakers implements Speakers {
  readonly #model: SpeakingModel
  readonly #executor: StreamingExecutor<FrameStream>
  readonly #voices: SharedVoices
  #idle: Speaker | undefined

  constructor(model: SpeakingModel, executor: StreamingExecutor<FrameStream>, voices: SharedVoices) {
    this.#model = model
    this.#executor = executor
    this.#voices = voices
  }

  take(_: KvSnapshot, capacity: number): Speaker {
    const idle = this.#idle
    if (idle && idle.state.capacity >= capacity) {
      this.#idle = undefined
      return idle
    }
    const rounded = Math.ceil(capacity / capacityStep) * capacityStep
    return new Speaker(this.#model, this.#executor, this.#model.flowLm.createState({ capacity: rounded }))
  }

  async begin(speaker: Speaker, kv: KvSnapshot, ids: Uint32Array): Promise<void> {
    // Copied at once: whoever speaks does not hold the voice.
    const adopt = this.#voices.use(kv)
    try {
      await speaker.begin(0, adopt, ids)
    } finally {
      this.#voices.release(kv)
    }
  }

  giveBack(speaker: Speaker): void {
    if (speaker.state.capacity > mostKept) {
      speaker.dispose()
      return
    }
    this.#idle?.dispose()
    this.#idle = speaker
  }
}
