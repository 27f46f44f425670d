import type { Voice } from '../voices/voice.ts'
import type { Parcel } from './parcel.ts'

/** A voice's cache for the other thread; this one keeps its own. */
export const copyCache = (kv: Voice['kv'], parcel: Parcel): Voice['kv'] => ({
  ...kv,
  layers: kv.layers.map(({ k, v }) => ({ k: parcel.copy(k), v: parcel.copy(v) })),
})
