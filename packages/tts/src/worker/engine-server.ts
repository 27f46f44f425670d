import type { GenerateOptions } from '../generate/options.ts'
import type { Utterance } from '../generate/utterance.ts'
import type { LoadProgress } from '../load-options.ts'
import { PocketTts } from '../pocket-tts.ts'
import type { Voice } from '../voices/voice.ts'
import { copyCache } from './copy-cache.ts'
import type { CallerLink } from './link.ts'
import { CallerError, packError } from './pack-error.ts'
import { unpackSource, unpackVoiceSource } from './packed-source.ts'
import { Parcel } from './parcel.ts'
import type {
  Command,
  ModelFacts,
  PackedGenerateOptions,
  PackedVoice,
  Request,
  ResultOf,
} from './protocol.ts'
import { ServedCall } from './served-call.ts'

/** Does in a worker what its caller asks: one model, any number of calls at once. */
export class EngineServer {
  readonly #caller: CallerLink
  readonly #calls = new Map<number, ServedCall>()
  readonly #caches = new Map<number, Voice['kv']>()
  /** The first command loads it. */
  #tts: PocketTts | undefined

  constructor(caller: CallerLink) {
    this.#caller = caller
  }

  handle(command: Command): void {
    const { id } = command
    const call = this.#calls.get(id)
    switch (command.command) {
      case 'credit':
        call?.credits.add()
        break
      case 'text':
        call?.text.answer(command.piece)
        break
      case 'text-failed':
        call?.text.fail()
        break
      case 'abort':
        call?.abort()
        break
      case 'keep-cache':
        this.#caches.set(id, command.kv)
        break
      case 'drop-cache':
        this.#caches.delete(id)
        break
      default:
        void this.#serve(id, command)
    }
  }

  async #serve(id: number, request: Request): Promise<void> {
    const call = new ServedCall(id, 'credits' in request ? request.credits : 0, this.#caller)
    this.#calls.set(id, call)
    const parcel = new Parcel()
    try {
      const result = await this.#perform(request, call, parcel)
      this.#caller.post({ id, report: 'done', result }, parcel.transfer)
    } catch (error) {
      const packed = error instanceof CallerError ? undefined : packError(error)
      this.#caller.post({ id, report: 'failed', error: packed })
    } finally {
      this.#calls.delete(id)
    }
  }

  #perform(request: Request, call: ServedCall, parcel: Parcel): Promise<ResultOf<Request>> {
    switch (request.command) {
      case 'load':
        return this.#load(request, call)
      case 'load-voice':
        return this.#giveVoice(this.#loadVoice(request, call), call, parcel)
      case 'clone-voice': {
        const { audio, options } = request
        const { signal } = call
        return this.#giveVoice(this.#engine.cloneVoice(audio, { ...options, signal }), call, parcel)
      }
      case 'speak':
        return this.#speak(request, call, parcel)
      case 'stream':
        return this.#stream(request, call)
    }
  }

  async #load({ source, options }: Request<'load'>, { id, signal }: ServedCall): Promise<ModelFacts> {
    const tts = await PocketTts.load(unpackSource(source), {
      ...options,
      signal,
      onProgress: this.#reportLoading(id),
    })
    this.#tts = tts
    const { config, backend, sampleRate, canCloneVoices, threads, defaultVoice, warnings } = tts
    const { layers, heads, headDim, dModel } = tts.flowLm.config
    const voiceModel = { ...config, layers, heads, headDim, dModel }
    const voices = tts.voices()
    return {
      config,
      backend,
      sampleRate,
      canCloneVoices,
      threads,
      defaultVoice,
      warnings,
      voices,
      voiceModel,
    }
  }

  #loadVoice({ source }: Request<'load-voice'>, { id, signal }: ServedCall): Promise<Voice> {
    return this.#engine.loadVoice(unpackVoiceSource(source), { signal, onProgress: this.#reportLoading(id) })
  }

  #reportLoading(id: number): (progress: LoadProgress) => void {
    return (progress) => this.#caller.post({ id, report: 'load-progress', progress })
  }

  /** The cache stays here as well, for when the voice is to speak. */
  async #giveVoice(voice: Promise<Voice>, { id }: ServedCall, parcel: Parcel): Promise<Voice> {
    const { kv, ...rest } = await voice
    this.#caches.set(id, kv)
    return { ...rest, kv: copyCache(kv, parcel) }
  }

  async #speak({ text, options }: Request<'speak'>, call: ServedCall, parcel: Parcel): Promise<Utterance> {
    const utterance = await this.#engine.speak(text, this.#options(options, call))
    return { ...utterance, pcm: parcel.move(utterance.pcm) }
  }

  async #stream({ text, inPieces, options }: Request<'stream'>, call: ServedCall): Promise<undefined> {
    const frames = this.#engine.stream(inPieces ? call.text : text, this.#options(options, call))
    await call.credits.take()
    for await (const frame of frames) {
      const parcel = new Parcel()
      const report = {
        id: call.id,
        report: 'frame',
        frame: { ...frame, pcm: parcel.move(frame.pcm) },
      } as const
      this.#caller.post(report, parcel.transfer)
      await call.credits.take()
    }
  }

  #options(packed: PackedGenerateOptions, { id, signal, noise }: ServedCall): GenerateOptions {
    const { voice, hasNoise, wantsProgress, ...options } = packed
    return {
      ...options,
      signal,
      voice: typeof voice === 'object' ? this.#unpackVoice(voice) : voice,
      noise: hasNoise ? noise : undefined,
      onWarning: (warning) => this.#caller.post({ id, report: 'warning', warning }),
      onProgress: wantsProgress
        ? (progress) => this.#caller.post({ id, report: 'progress', progress })
        : undefined,
    }
  }

  #unpackVoice({ cache, ...rest }: PackedVoice): Voice {
    const kv = this.#caches.get(cache)
    if (!kv) throw new Error(`the worker has no voice cache ${cache}`)
    return { ...rest, kv }
  }

  get #engine(): PocketTts {
    if (!this.#tts) throw new Error('the worker was asked before its model was loaded')
    return this.#tts
  }
}
