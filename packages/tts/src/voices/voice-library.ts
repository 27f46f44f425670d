import type { KvSnapshot } from '@pocket/flowlm'
import { PocketTtsError } from '../errors.ts'
import type { DownloadProgress } from '../hub/progress.ts'
import { SharedTasks } from '../hub/shared-tasks.ts'
import { describePart, type FilePart, isUrl, locate, type PartOptions, readPart } from '../model/part.ts'
import { replaceLoneSurrogates } from '../text/python-string.ts'
import { readVoice } from './read-voice.ts'
import { invalidVoice, type Voice, type VoiceModel } from './voice.ts'

export interface VoiceSources extends Pick<PartOptions, 'hub'> {
  readonly voices: ReadonlyMap<string, FilePart>
  /** Folders on a server, which cannot be listed but may hold a voice that is asked for. */
  readonly voiceFolders: readonly URL[]
  /** More than these could not speak; hearing a prompt of them would only take long. */
  readonly maxPositions: number
}

/** The cache after a prompt of rows `[count, dModel]`. */
export type Hear = (rows: Float32Array, count: number) => Promise<KvSnapshot>

/** What a caller hears of the reading, and how it stops it. */
type Reading = Pick<PartOptions, 'signal' | 'onDownload'>

/** The longest cache anyone exports, 24 layers of 1000 positions unsliced, is a fifth of this. */
const largestVoiceFile = 1 << 30

/** A model's voices by name, each read once and then kept. */
export class VoiceLibrary {
  readonly #hear: Hear
  readonly #model: VoiceModel
  readonly #sources: VoiceSources
  readonly #named = new Map<string, Voice>()
  readonly #loading = new SharedTasks<Voice, DownloadProgress>()

  constructor(hear: Hear, model: VoiceModel, sources: VoiceSources) {
    this.#hear = hear
    this.#model = model
    this.#sources = sources
  }

  /** Names that are known without asking a server, sorted. */
  names(): string[] {
    return [...this.#sources.voices.keys()].sort()
  }

  /**
   * A voice by name; else the file at that path or URL; or the file given as bytes.
   * Throws PocketTtsError `unknown-voice`, `not-found`, `invalid-voice`, or as `Hub.download` does; the signal's reason.
   */
  load(source: string | URL | Uint8Array, reading: Reading = {}): Promise<Voice> {
    if (source instanceof Uint8Array) return this.#parse(source, `of ${source.length} bytes`)
    if (source instanceof URL) return this.#read(source, reading)
    if (typeof source !== 'string' || source === '') {
      throw new PocketTtsError(
        'invalid-option',
        `a voice is ${source === '' ? 'an empty text' : typeof source}, expected a name, path, URL or bytes`,
      )
    }
    return this.#loadNamed(source, reading)
  }

  /** Concurrent callers share one read, which stops when the last of them has gone. */
  async #loadNamed(name: string, reading: Reading): Promise<Voice> {
    const known = this.#named.get(name)
    if (known) return known
    const part = this.#sources.voices.get(name)
    if (!part && looksLikePlace(name)) return this.#read(name, reading)
    const load = async (signal: AbortSignal, onDownload: (progress: DownloadProgress) => void) => {
      const shared = { signal, onDownload }
      const voice = part ? await this.#read(part, shared, name) : await this.#search(name, shared)
      this.#named.set(name, voice)
      return voice
    }
    return this.#loading.run(name, load, { signal: reading.signal, onProgress: reading.onDownload })
  }

  /** A name that was not listed may still be a voice in a server's folder. */
  async #search(name: string, reading: Reading): Promise<Voice> {
    let offline: PocketTtsError | undefined
    for (const folder of this.#sources.voiceFolders) {
      try {
        return await this.#read(
          new URL(`${encodeURIComponent(replaceLoneSurrogates(name))}.safetensors`, folder),
          reading,
          name,
        )
      } catch (error) {
        if (!(error instanceof PocketTtsError)) throw error
        if (error.code === 'offline') offline ??= error
        else if (error.code !== 'not-found') throw error
      }
    }
    throw offline ?? this.#unknown(name)
  }

  #unknown(name: string): PocketTtsError {
    const names = this.names()
    const known = names.length > 0 ? `it has ${names.join(', ')}` : 'it lists none'
    return new PocketTtsError(
      'unknown-voice',
      `the model ${this.#model.modelId} has no voice '${name}'; ${known}; the path or URL of a voice file works too`,
    )
  }

  async #read(part: FilePart, reading: Reading, name?: string): Promise<Voice> {
    const place = typeof part === 'string' ? locate(part) : part
    const bytes = await readPart(place, {
      ...reading,
      hub: this.#sources.hub,
      maxBytes: largestVoiceFile,
    })
    return this.#parse(bytes, name === undefined ? `in ${describePart(part)}` : `'${name}'`, name)
  }

  async #parse(bytes: Uint8Array, label: string, name?: string): Promise<Voice> {
    const file = readVoice(bytes, this.#model, label)
    const { maxPositions } = this.#sources
    if (file.kind === 'prompt' && file.count > maxPositions) {
      throw invalidVoice(label, `it holds ${file.count} positions, and there are ${maxPositions}`)
    }
    const kv = file.kind === 'cache' ? file.kv : await this.#hear(file.rows, file.count)
    return {
      kv,
      ...(name === undefined ? {} : { name }),
      ...(file.modelId === undefined ? {} : { modelId: file.modelId }),
    }
  }
}

const looksLikePlace = (text: string): boolean => isUrl(text) || /[/\\]|\.safetensors$/i.test(text)
