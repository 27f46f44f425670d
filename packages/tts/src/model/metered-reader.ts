import type { WeightReader } from '@pocket/nn'
import { nextTurn } from '@pocket/nn'

/** Reading holds the event loop no longer than this: a frame of a screen. */
const longestStretchMs = 16

export interface Meter {
  readonly signal?: AbortSignal | undefined
  readonly onBytes: (loaded: number, total: number) => void
}

/** The same weights; those that are `counted` count as they are read, each once. Reads fail once the signal is aborted. */
export const meteredReader = (
  weights: WeightReader,
  counted: (name: string) => boolean,
  meter: Meter,
): WeightReader => {
  const waiting = new Map(
    weights
      .names()
      .filter(counted)
      .map((name) => [name, weights.info(name).byteLength]),
  )
  const total = [...waiting.values()].reduce((sum, bytes) => sum + bytes, 0)
  let loaded = 0
  let since = performance.now()
  const beforeRead = async (name: string): Promise<void> => {
    if (performance.now() - since > longestStretchMs) {
      await nextTurn()
      since = performance.now()
    }
    meter.signal?.throwIfAborted()
    loaded += waiting.get(name) ?? 0
    if (waiting.delete(name)) meter.onBytes(loaded, total)
  }
  return {
    names: () => weights.names(),
    has: (name) => weights.has(name),
    info: (name) => weights.info(name),
    bytes: async (name, into) => {
      await beforeRead(name)
      return weights.bytes(name, into)
    },
    f32: async (name) => {
      await beforeRead(name)
      return weights.f32(name)
    },
  }
}
