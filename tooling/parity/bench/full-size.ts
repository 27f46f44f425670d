import type { PocketTts, Voice } from '@pocket/tts'
import { noise } from '@tooling/fixtures'

/** Positions of a voice, some fourteen seconds. */
const heard = 175

/** A voice for generated weights, which understand none. */
export const noisyVoice = ({ heads, headDim, layers }: PocketTts['flowLm']['config']): Voice => {
  const rows = (seed: number): Float32Array => noise(heard * heads * headDim, seed)
  const kv = Array.from({ length: layers }, (_, layer) => ({ k: rows(2 * layer), v: rows(2 * layer + 1) }))
  return { kv: { positions: heard, heads, headDim, layers: kv } }
}
