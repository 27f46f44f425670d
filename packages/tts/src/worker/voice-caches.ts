import { checkVoice, type Voice, type VoiceModel } from '../voices/voice.ts'
import type { Connection } from './connection.ts'
import { copyCache } from './copy-cache.ts'
import { Parcel } from './parcel.ts'
import type { PackedVoice } from './protocol.ts'

type Cache = Voice['kv']

/**
 * The voice caches that a worker has. A voice weighs megabytes, so each goes there once and is spoken of by number;
 * when nothing on this side refers to it any more, the worker lets go of it too.
 */
export class VoiceCaches {
  readonly #connection: Connection
  readonly #model: VoiceModel
  readonly #numbers = new WeakMap<Cache, number>()
  readonly #unused: FinalizationRegistry<number>

  constructor(connection: Connection, model: VoiceModel) {
    this.#connection = connection
    this.#model = model
    this.#unused = new FinalizationRegistry((id) => connection.send({ id, command: 'drop-cache' }))
  }

  /** Throws PocketTtsError `invalid-voice` for a voice of another model. */
  pack(voice: Voice): PackedVoice {
    checkVoice(voice, this.#model)
    const { kv, ...rest } = voice
    return { ...rest, cache: this.#numbers.get(kv) ?? this.#send(kv) }
  }

  /** Notes that the worker has a cache under this number. */
  note(kv: Cache, id: number): void {
    this.#numbers.set(kv, id)
    this.#unused.register(kv, id)
  }

  #send(kv: Cache): number {
    const id = this.#connection.nextId()
    const parcel = new Parcel()
    this.#connection.send({ id, command: 'keep-cache', kv: copyCache(kv, parcel) }, parcel.transfer)
    this.note(kv, id)
    return id
  }
}
