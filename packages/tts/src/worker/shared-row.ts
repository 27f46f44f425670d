import type { NoiseSource } from '../noise/noise-source.ts'

// A row of noise in shared memory: whether it is there, how many values the source gave, the values.
const headerWords = 2
const stateWord = 0
const countWord = 1
const state = { wanted: 0, given: 1, failed: 2 } as const

export const createRow = (length: number): SharedArrayBuffer =>
  new SharedArrayBuffer(4 * (headerWords + length))

/**
 * Sleeps until the caller has filled the row. Undefined when its source failed. A source that gave another number of
 * values makes a row of that length, for the check that every source goes through.
 */
export const awaitRow = (row: SharedArrayBuffer): Float32Array | undefined => {
  const header = new Int32Array(row, 0, headerWords)
  Atomics.wait(header, stateWord, state.wanted)
  if (header[stateWord] === state.failed) return undefined
  const values = new Float32Array(row, 4 * headerWords)
  return header[countWord] === values.length ? values.slice() : new Float32Array(header[countWord] ?? 0)
}

/** Draws a row and wakes the worker; without a source, or when it throws, the worker learns that there is none. */
export const fillRow = (row: SharedArrayBuffer, source: NoiseSource | undefined): void => {
  const header = new Int32Array(row, 0, headerWords)
  let outcome: number = state.failed
  try {
    if (!source) return
    const values = new Float32Array(row, 4 * headerWords)
    const drawn: Float32Array | undefined = source.next(values.length)
    if (drawn?.length === values.length) values.set(drawn)
    header[countWord] = drawn?.length ?? 0
    outcome = state.given
  } finally {
    Atomics.store(header, stateWord, outcome)
    Atomics.notify(header, stateWord)
  }
}
