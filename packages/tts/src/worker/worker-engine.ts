import type { BackendReport } from '../backend/backend.ts'
import { PocketTtsError } from '../errors.ts'
import { checkGenerateOptions, type GenerateOptions } from '../generate/options.ts'
import type { AudioFrame, Utterance, Warning } from '../generate/utterance.ts'
import type { LoadVoiceOptions } from '../load-options.ts'
import type { PocketConfig } from '../model/config.ts'
import { checkCallOptions } from '../option-checks.ts'
import { isTextStream } from '../stream/text-stream.ts'
import type { CloneOptions } from '../voices/clone-voice.ts'
import type { Voice } from '../voices/voice.ts'
import { writeVoice } from '../voices/write-voice.ts'
import type { Connection } from './connection.ts'
import { FrameStream } from './frame-stream.ts'
import { packVoiceName, packVoiceSource } from './pack-source.ts'
import { Parcel } from './parcel.ts'
import type { ModelFacts, PackedGenerateOptions } from './protocol.ts'
import type { CallHooks, RemoteCall } from './remote-call.ts'
import type { SpeechEngine } from './speech-engine.ts'
import { VoiceCaches } from './voice-caches.ts'

/** A model in a worker. What is computed is computed there; what is known, checked or written is here. */
export class WorkerEngine implements SpeechEngine {
  readonly config: PocketConfig
  readonly backend: BackendReport
  readonly sampleRate: number
  readonly canCloneVoices: boolean
  readonly threads: number
  readonly defaultVoice: string | undefined
  readonly warnings: readonly Warning[]
  readonly #connection: Connection
  readonly #facts: ModelFacts
  readonly #caches: VoiceCaches
  readonly #framesAhead: number

  constructor(connection: Connection, facts: ModelFacts, framesAhead: number) {
    this.config = facts.config
    this.backend = facts.backend
    this.sampleRate = facts.sampleRate
    this.canCloneVoices = facts.canCloneVoices
    this.threads = facts.threads
    this.defaultVoice = facts.defaultVoice
    this.warnings = facts.warnings
    this.#connection = connection
    this.#facts = facts
    this.#caches = new VoiceCaches(connection, facts.voiceModel)
    this.#framesAhead = framesAhead
  }

  voices(): string[] {
    return [...this.#facts.voices]
  }

  async loadVoice(source: string | URL | Uint8Array, options: LoadVoiceOptions = {}): Promise<Voice> {
    checkCallOptions(options)
    const { signal, onProgress } = options
    const parcel = new Parcel()
    const packed = packVoiceSource(source, this.#facts.voices, parcel)
    const request = { command: 'load-voice', source: packed } as const
    const hooks = { signal, onLoadProgress: onProgress }
    return this.#receiveVoice(this.#connection.call(request, hooks, parcel.transfer))
  }

  async cloneVoice(audio: Float32Array | Uint8Array, options: CloneOptions = {}): Promise<Voice> {
    checkCallOptions(options)
    const { signal, ...data } = options
    const parcel = new Parcel()
    const request = { command: 'clone-voice', audio: parcel.copy(audio), options: data } as const
    return this.#receiveVoice(this.#connection.call(request, { signal }, parcel.transfer))
  }

  exportVoice(voice: Voice): Uint8Array {
    return writeVoice(voice, this.#facts.voiceModel)
  }

  async generate(text: string, options: GenerateOptions = {}): Promise<Float32Array> {
    return (await this.speak(text, options)).pcm
  }

  async speak(text: string, options: GenerateOptions = {}): Promise<Utterance> {
    const { packed, hooks } = this.#prepare(options)
    const call = this.#connection.call({ command: 'speak', text, options: packed }, hooks)
    return this.#connection.awaited(call.result)
  }

  stream(
    text: string | AsyncIterable<string>,
    options: GenerateOptions = {},
  ): AsyncIterableIterator<AudioFrame, void, void> {
    return new FrameStream(this.#connection, (onFrame) => {
      const { packed, hooks } = this.#prepare(options)
      const pieces = isTextStream(text) ? text : undefined
      return this.#connection.call(
        {
          command: 'stream',
          text: isTextStream(text) ? '' : text,
          inPieces: pieces !== undefined,
          options: packed,
          credits: this.#framesAhead,
        },
        { ...hooks, text: pieces, onFrame },
      )
    })
  }

  dispose(): void {
    this.#connection.end(new PocketTtsError('disposed', 'this engine was disposed; load another'))
  }

  async #receiveVoice(call: RemoteCall<Voice>): Promise<Voice> {
    const voice = await this.#connection.awaited(call.result)
    this.#caches.note(voice.kv, call.id)
    return voice
  }

  /** Parts options into what is data and what stays on this side. Refuses what `PocketTts` refuses, before any work. */
  #prepare(options: GenerateOptions): { packed: PackedGenerateOptions; hooks: CallHooks } {
    checkGenerateOptions(options, this.config)
    const { voice, noise, signal, onProgress, onWarning, ...data } = options
    if (noise && typeof SharedArrayBuffer === 'undefined') {
      throw new PocketTtsError(
        'unsupported',
        'noise of your own takes memory that both threads share, which a page has only when it is cross-origin ' +
          'isolated; use a seed',
      )
    }
    const packed = {
      ...data,
      voice:
        typeof voice === 'string'
          ? packVoiceName(voice, this.#facts.voices)
          : voice && this.#caches.pack(voice),
      hasNoise: noise !== undefined,
      wantsProgress: onProgress !== undefined,
    }
    return { packed, hooks: { noise, signal, onProgress, onWarning } }
  }
}
