import { type NdArray, ndArray } from '@pocket/nn'

/** Networks run time-major, `[time, channels]`: frames that follow one another join end to end. */
export const joinFrames = (frames: readonly Float32Array[]): Float32Array => {
  const [first] = frames
  if (first && frames.length === 1) return first
  const joined = new Float32Array(frames.reduce((length, frame) => length + frame.length, 0))
  let offset = 0
  for (const frame of frames) {
    joined.set(frame, offset)
    offset += frame.length
  }
  return joined
}

/** `[time, channels]` as `[channels, time]`, the layout that the reference's modules give; both row-major. */
export const channelsFirst = ({ data, shape }: NdArray<Float32Array>): NdArray<Float32Array> => {
  const [time = 0, channels = 0] = shape
  const out = new Float32Array(data.length)
  for (let t = 0; t < time; t++) {
    for (let c = 0; c < channels; c++) out[c * time + t] = data[t * channels + c] ?? 0
  }
  return ndArray(out, [channels, time])
}
