import type { FlowLm } from '@pocket/flowlm'
import type { MimiCodec } from '@pocket/mimi'
import type { SentencePieceUnigram } from '@pocket/sentencepiece'
import type { BackendReport } from './backend/backend.ts'
import type { LastingBackend } from './backend/lasting-backend.ts'
import { asSpeechError, PocketTtsError } from './errors.ts'
import { driveUtterance } from './generate/driver.ts'
import type { FrameSource } from './generate/frame-source.ts'
import { type Job, Jobs } from './generate/job.ts'
import { checkGenerateOptions, type GenerateOptions, type Settings } from './generate/options.ts'
import { type PlanContext, type PlannedChunk, planText } from './generate/plan-text.ts'
import type { AudioFrame, Utterance, UtteranceChunk, Warning } from './generate/utterance.ts'
import { checkLoadOptions, type LoadOptions, type LoadVoiceOptions } from './load-options.ts'
import type { PocketConfig } from './model/config.ts'
import { type LoadedModel, loadModel } from './model/load-model.ts'
import type { PartOptions } from './model/part.ts'
import { partOptions, reportDownload } from './model/part-options.ts'
import type { ResolvedModel } from './model/resolved-model.ts'
import { type ModelSource, resolveModel } from './model/source.ts'
import { checkCallOptions } from './option-checks.ts'
import { ResumingSource } from './sources/resuming.ts'
import { ClosableIterator } from './stream/closable.ts'
import { sentencesOf } from './stream/sentences.ts'
import { isTextStream } from './stream/text-stream.ts'
import { type CloneOptions, cloneVoice, refuseCloning } from './voices/clone-voice.ts'
import { hear } from './voices/hear.ts'
import { checkVoice, type Voice, type VoiceModel } from './voices/voice.ts'
import { type Hear, VoiceLibrary } from './voices/voice-library.ts'
import { writeVoice } from './voices/write-voice.ts'

/**
 * Pocket TTS: text in, speech out. One instance is one model in memory; its calls may overlap freely, each speaks with
 * a state of its own.
 *
 * What is wrong with an input is found before any work: every method throws (or rejects with) PocketTtsError, whose
 * `code` says what to do about it.
 */
export class PocketTts {
  readonly config: PocketConfig
  readonly tokenizer: SentencePieceUnigram
  /** The voice that speaks when none is named; undefined where the model lists none. */
  readonly defaultVoice: string | undefined
  /** What went less well in loading: `no-voice-cloning` where only the weights without it could be had, and why. */
  readonly warnings: readonly Warning[]
  readonly #backend: LastingBackend
  readonly #voices: VoiceLibrary
  readonly #voiceModel: VoiceModel
  readonly #maxPositions: number
  readonly #jobs: Jobs

  /**
   * Loads a model: a published checkpoint by its id (`english`), a folder (path, URL or `hf://owner/repo/path`), a config
   * file, or the parts, such as the object of `@pocket/mini`. Files of the hub are fetched once and then kept.
   *
   * @throws PocketTtsError `invalid-option`, `gpu-unavailable` or `gpu-refused` (of a backend asked for by name),
   *   `unknown-model`, `not-found`, `invalid-model` (what is wrong is named), `access-denied`, `offline`,
   *   `download-failed`, `checksum-mismatch`, `cache-failed`; KernelError `unavailable` where this machine lacks the
   *   `simd` level or the number of `threads` asked for; the signal's reason
   */
  static async load(source: ModelSource, options: LoadOptions = {}): Promise<PocketTts> {
    const { maxPositions, ...checked } = checkLoadOptions(options)
    checked.signal?.throwIfAborted()
    const parts = partOptions(checked)
    const resolved = await resolveModel(source, parts)
    return new PocketTts(await loadModel(resolved, checked, parts), resolved, parts, maxPositions)
  }

  private constructor(
    model: LoadedModel,
    resolved: ResolvedModel,
    { hub }: Pick<PartOptions, 'hub'>,
    maxPositions: number,
  ) {
    this.#backend = model.backend
    const { layers, heads, headDim, dModel } = this.flowLm.config
    this.config = model.config
    this.tokenizer = model.tokenizer
    this.warnings = model.warnings
    this.#voiceModel = { ...model.config, layers, heads, headDim, dModel }
    const hearPrompt: Hear = (rows, count) => this.#backend.with(({ flowLm }) => hear(flowLm, rows, count))
    const { voices, voiceFolders } = resolved
    this.#voices = new VoiceLibrary(hearPrompt, this.#voiceModel, { voices, voiceFolders, hub, maxPositions })
    this.defaultVoice = resolved.defaultVoice ?? this.#voices.names()[0]
    this.#maxPositions = maxPositions
    this.#jobs = new Jobs(() => model.backend.dispose())
  }

  /** What computes here, and why: after a GPU was lost, what was found then. */
  get backend(): BackendReport {
    return this.#backend.latest.report
  }

  /** The language model. Another one, as the codec is, after a GPU was lost. */
  get flowLm(): FlowLm {
    return this.#backend.latest.flowLm
  }

  get codec(): MimiCodec {
    return this.#backend.latest.codec
  }

  /** Threads that share the work, the calling one included. */
  get threads(): number {
    return this.#backend.latest.threads
  }

  /** Samples a second of everything that comes out: 24000. */
  get sampleRate(): number {
    return this.codec.config.sampleRate
  }

  /** False for the weights that anyone may download, whose encoder is blank: see `cloneVoice`. */
  get canCloneVoices(): boolean {
    return this.codec.canEncode && this.flowLm.hasSpeakerProjection
  }

  /** The names of the model's voices, sorted. A model on a server may have more: folders there cannot be listed. */
  voices(): string[] {
    return this.#voices.names()
  }

  /**
   * A voice by name (read once, then kept), else the voice file at a path or URL, or the bytes of one. Voice files of
   * all three generations are read; positions beyond those in use are ignored.
   *
   * @throws PocketTtsError `unknown-voice` (lists the known ones), `not-found`, `invalid-voice` (damaged, made with
   *   another model; both are named; or a prompt of more than `maxPositions`), `invalid-option`, `disposed`, and for
   *   files of the hub as `Hub.download` does; the signal's reason
   */
  async loadVoice(source: string | URL | Uint8Array, options: LoadVoiceOptions = {}): Promise<Voice> {
    checkCallOptions(options)
    const job = this.#jobs.begin(options.signal)
    try {
      const onDownload = reportDownload(options.onProgress)
      const voice = await this.#voices.load(source, { signal: job.signal, onDownload })
      job.signal.throwIfAborted()
      return voice
    } catch (error) {
      throw asSpeechError(error)
    } finally {
      job.end()
    }
  }

  /**
   * A voice from a recording of someone speaking.
   *
   * @param audio mono samples at 24 kHz, or the bytes of a WAV file of that kind; zeros are added up to whole frames of
   *   80 ms
   * @throws PocketTtsError `unsupported` unless `canCloneVoices`, `invalid-audio` (empty, NaN, another kind of file),
   *   `invalid-option`, `too-long`, `gpu-lost`, `worker-failed`, `disposed`; the signal's reason
   */
  async cloneVoice(audio: Float32Array | Uint8Array, options: CloneOptions = {}): Promise<Voice> {
    checkCallOptions(options)
    if (!this.canCloneVoices) throw refuseCloning(this)
    const job = this.#jobs.begin(options.signal)
    try {
      const { signal } = job
      const limits = { signal, maxPositions: this.#maxPositions }
      return await this.#backend.with(
        ({ flowLm, codec }) => cloneVoice({ flowLm, codec, config: this.config }, audio, options, limits),
        signal,
      )
    } catch (error) {
      throw asSpeechError(error)
    } finally {
      job.end()
    }
  }

  /**
   * A voice as a file of the newest generation, which `loadVoice` and the Python reference read: bit for bit the same
   * voice, cut to the positions in use, the model in its metadata.
   *
   * @throws PocketTtsError `invalid-voice` for a voice of another model
   */
  exportVoice(voice: Voice): Uint8Array {
    return writeVoice(voice, this.#voiceModel)
  }

  /** Speaks: samples at 24 kHz, mono, nominally within ±1. Throws as `speak` does. */
  async generate(text: string, options: GenerateOptions = {}): Promise<Float32Array> {
    return (await this.speak(text, options)).pcm
  }

  /**
   * Speaks, and says what happened. The same text, voice, options and seed give the same samples.
   *
   * @throws PocketTtsError `empty-text`, `invalid-option`, `unknown-voice` and the other refusals of `loadVoice`,
   *   `too-long`, `gpu-lost` (speaking again opens the GPU anew), `worker-failed` (load the model again), `disposed`; the
   *   signal's reason, within a frame
   */
  async speak(text: string, options: GenerateOptions = {}): Promise<Utterance> {
    const warnings: Warning[] = []
    const chunks: UtteranceChunk[] = []
    const pieces: Float32Array[] = []
    const onWarning = (warning: Warning): void => {
      warnings.push(warning)
      options.onWarning?.(warning)
    }
    const settings = { ...checkGenerateOptions(options, this.config), onWarning }
    const job = this.#jobs.begin(options.signal)
    try {
      const frames = this.#frames(requireText(text), settings, options.voice, job, (chunk) =>
        chunks.push(chunk),
      )
      for await (const { pcm } of frames) pieces.push(pcm)
    } finally {
      job.end()
    }
    return { pcm: concatenate(pieces), sampleRate: this.sampleRate, chunks, warnings }
  }

  /**
   * Speaks frame by frame, each handed over as soon as it is made; the frames together are what `generate` gives. Of a
   * text that is still being written, each sentence is spoken when it is over. Leaving the loop stops the work and
   * frees its memory. Errors come from the first `next()`: those of `speak`, and whatever the text's own iterator throws.
   */
  stream(
    text: string | AsyncIterable<string>,
    options: GenerateOptions = {},
  ): AsyncIterableIterator<AudioFrame, void, void> {
    const stop = new AbortController()
    return new ClosableIterator(this.#stream(text, options, stop.signal), () => stop.abort())
  }

  /** Frees the model's memory, once the calls under way have stopped: each rejects with `disposed` within a frame. */
  dispose(): void {
    this.#jobs.dispose()
  }

  async *#stream(
    text: string | AsyncIterable<string>,
    options: GenerateOptions,
    stopped: AbortSignal,
  ): AsyncGenerator<AudioFrame, void, void> {
    const settings = checkGenerateOptions(options, this.config)
    const job = this.#jobs.begin(options.signal)
    const stop = (): void => job.abort(stopped.reason)
    stopped.addEventListener('abort', stop)
    try {
      yield* this.#frames(isTextStream(text) ? text : requireText(text), settings, options.voice, job)
    } finally {
      stopped.removeEventListener('abort', stop)
      job.end()
    }
  }

  async *#frames(
    text: string | AsyncIterable<string>,
    settings: Settings,
    voiceOption: Voice | string | undefined,
    { signal }: Job,
    onChunk?: (chunk: UtteranceChunk) => void,
  ): AsyncGenerator<AudioFrame, void, void> {
    const voice = await this.#voiceFor(voiceOption, signal)
    signal.throwIfAborted()
    const plan: PlanContext = {
      tokenizer: this.tokenizer,
      frameRate: this.codec.config.frameRate,
      settings,
      voicePositions: voice.kv.positions,
      // All of a text is checked before any of it is spoken.
      maxPositions: Math.min(this.#maxPositions, this.#backend.latest.maxPositions ?? this.#maxPositions),
    }
    const chunks = typeof text === 'string' ? planText(text, plan) : planSentences(text, plan, signal)
    const { lanes = 1 } = this.#backend.latest
    const frames = driveUtterance(chunks, {
      source: this.#createSource(),
      voice,
      settings,
      latentDim: this.flowLm.config.latentDim,
      sampleRate: this.sampleRate,
      signal,
      chunkCount: Array.isArray(chunks) ? chunks.length : undefined,
      aside: lanes > 1 ? { most: lanes, createSource: () => this.#createSource() } : undefined,
      onChunk,
    })
    try {
      yield* frames
    } catch (error) {
      throw asSpeechError(error)
    }
  }

  #createSource(): FrameSource {
    return this.#backend.canBeLost ? new ResumingSource(this.#backend) : this.#backend.latest.createSource()
  }

  async #voiceFor(wanted: Voice | string | undefined, signal: AbortSignal): Promise<Voice> {
    const voice = wanted ?? this.defaultVoice ?? ''
    if (voice === '' && this.defaultVoice === undefined) {
      throw new PocketTtsError(
        'unknown-voice',
        `no voice was given and the model ${this.config.modelId} lists none; pass the path or URL of a voice file`,
      )
    }
    if (typeof voice === 'string') return this.#voices.load(voice, { signal })
    checkVoice(voice, this.#voiceModel)
    return voice
  }
}

async function* planSentences(
  text: AsyncIterable<string>,
  plan: PlanContext,
  signal: AbortSignal,
): AsyncGenerator<PlannedChunk, void, void> {
  for await (const sentence of sentencesOf(text, signal)) yield* planText(sentence.text, plan, sentence.start)
}

const requireText = (text: unknown): string => {
  if (typeof text === 'string') return text
  throw new PocketTtsError('invalid-option', `the text is of type ${typeof text}; it must be a string`)
}

const concatenate = (pieces: readonly Float32Array[]): Float32Array => {
  const whole = new Float32Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let position = 0
  for (const piece of pieces) {
    whole.set(piece, position)
    position += piece.length
  }
  return whole
}
