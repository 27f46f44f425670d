import { bindingAlignment } from './constants.ts'
import { controlWords } from './kernels/attention.ts'
import { flags } from './kernels/row-source.ts'
import { rotationsOf } from './rotations.ts'
import type { DeviceConvolutionState, DeviceKvCache } from './states.ts'

/**
 * What one step of a run is told by the host: for each lane of the plan its state's position or flags and which lane of
 * the state that is. Positions are known before a run, so nothing has to come back from the device to go on.
 */
export interface ControlBlock {
  readonly bytes: number
  /** Writes the words of one run and advances the state. `active[i]` says whether lane `i` of the plan takes part. */
  fill(words: Uint32Array, lanes: readonly number[], active: readonly boolean[]): void
}

const aligned = (bytes: number): number => Math.ceil(bytes / bindingAlignment) * bindingAlignment

export const convolutionControl = (state: DeviceConvolutionState, lanes: number): ControlBlock => ({
  bytes: aligned(lanes * controlWords * 4),
  fill: (words, lanes, active) => {
    lanes.forEach((lane, index) => {
      const takesPart = active[index] ?? true
      words[controlWords * index] = state.word(lane) | (takesPart ? flags.active : 0)
      words[controlWords * index + 1] = lane
      if (takesPart) state.advance(lane)
    })
  },
})

/** The words of the lanes, then the rotations of their rows: `[lanes, rows, headDim]` float32. */
export const attentionControl = (cache: DeviceKvCache, rows: number, lanes: number): ControlBlock => {
  const { headDim, maxPeriod } = cache
  const rotations = rotationsOf(headDim, maxPeriod)
  return {
    bytes: aligned((lanes * controlWords + lanes * rows * headDim) * 4),
    fill: (words, lanes, active) => {
      const floats = new Float32Array(words.buffer, words.byteOffset, words.length)
      lanes.forEach((lane, index) => {
        const takesPart = active[index] ?? true
        const position = cache.positionOf(lane)
        words[controlWords * index] = position
        words[controlWords * index + 1] = lane
        words[controlWords * index + 2] = takesPart ? 1 : 0
        words[controlWords * index + 3] = cache.capacity
        const first = lanes.length * controlWords + index * rows * headDim
        rotations.fill(floats.subarray(first, first + rows * headDim), position, rows)
        if (takesPart) cache.advance(lane, rows)
      })
    },
  }
}
