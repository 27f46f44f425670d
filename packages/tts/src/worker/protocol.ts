import type { BackendReport } from '../backend/backend.ts'
import type { GenerateOptions } from '../generate/options.ts'
import type { AudioFrame, GenerateProgress, Utterance, Warning } from '../generate/utterance.ts'
import type { LoadOptions, LoadProgress } from '../load-options.ts'
import type { PocketConfig } from '../model/config.ts'
import type { CloneOptions } from '../voices/clone-voice.ts'
import type { Voice, VoiceModel } from '../voices/voice.ts'
import type { PackedError } from './pack-error.ts'
import type { PackedSource, PackedVoiceSource } from './packed-source.ts'

/** A voice without its cache, which the worker has under a number: see `keep-cache`. */
export interface PackedVoice extends Omit<Voice, 'kv'> {
  readonly cache: number
}

/** The options of a call that are data; the others are functions and signals, which `Report`s and `abort` stand for. */
export type PackedOptions<Options> = Omit<Options, 'voice' | 'noise' | 'signal' | 'onProgress' | 'onWarning'>

export interface PackedGenerateOptions extends PackedOptions<GenerateOptions> {
  readonly voice: PackedVoice | string | undefined
  /** Rows of noise are asked of the caller. */
  readonly hasNoise: boolean
  readonly wantsProgress: boolean
}

/** What a caller knows of a model that is in a worker. */
export interface ModelFacts {
  readonly config: PocketConfig
  readonly backend: BackendReport
  readonly sampleRate: number
  readonly canCloneVoices: boolean
  readonly threads: number
  readonly defaultVoice: string | undefined
  readonly warnings: readonly Warning[]
  readonly voices: string[]
  readonly voiceModel: VoiceModel
}

/** What begins a call, and what a call of that kind ends with. */
export interface Calls {
  load: { request: { source: PackedSource; options: PackedOptions<LoadOptions> }; result: ModelFacts }
  'load-voice': { request: { source: PackedVoiceSource }; result: Voice }
  'clone-voice': {
    request: { audio: Float32Array | Uint8Array; options: PackedOptions<CloneOptions> }
    result: Voice
  }
  speak: { request: { text: string; options: PackedGenerateOptions }; result: Utterance }
  stream: {
    request: {
      /** Empty for a text that comes in pieces. */
      text: string
      inPieces: boolean
      options: PackedGenerateOptions
      /** Frames that the worker may make before any `credit` comes. */
      credits: number
    }
    result: undefined
  }
}

type CallName = keyof Calls

export type Request<Name extends CallName = CallName> = {
  [N in Name]: { readonly command: N } & Readonly<Calls[N]['request']>
}[Name]

export type ResultOf<R extends Request> = Calls[R['command']]['result']

/** Caller to worker. Calls are numbered by the caller, and their other commands bear the same number. */
export type Command = { readonly id: number } & (
  | Request
  /** A frame was taken: one more may be made. */
  | { readonly command: 'credit' }
  /** The next piece of the text; undefined at its end. */
  | { readonly command: 'text'; readonly piece: string | undefined }
  | { readonly command: 'text-failed' }
  | { readonly command: 'abort' }
  /** The voice cache `id` will be used; sent once, however often it speaks. */
  | { readonly command: 'keep-cache'; readonly kv: Voice['kv'] }
  | { readonly command: 'drop-cache' }
)

/** Worker to caller, about the call `id`. */
export type Report = { readonly id: number } & (
  | { readonly report: 'done'; readonly result: ResultOf<Request> }
  /** Without an error: the caller has it, as the reason of its signal or from its own text or noise. */
  | { readonly report: 'failed'; readonly error: PackedError | undefined }
  | { readonly report: 'frame'; readonly frame: AudioFrame }
  | { readonly report: 'load-progress'; readonly progress: LoadProgress }
  | { readonly report: 'progress'; readonly progress: GenerateProgress }
  | { readonly report: 'warning'; readonly warning: Warning }
  /** The caller's text iterator is to go on. */
  | { readonly report: 'text-wanted' }
  /** The worker sleeps until this row is filled. */
  | { readonly report: 'noise-wanted'; readonly row: SharedArrayBuffer }
)
