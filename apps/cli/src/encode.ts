import type { PocketTts } from '@pocket/tts'
import type { CodecFlags } from './codec-flags.ts'
import { concatenate } from './concatenate.ts'
import { openBytesDestination } from './destination/open-destination.ts'
import { InputError } from './errors.ts'
import type { Io } from './io.ts'
import { writeLatents } from './latents-file.ts'
import { loadModel } from './load-model.ts'
import { openRecording, type Recording } from './open-recording.ts'
import { produce } from './produce.ts'
import { formatSeconds, formatShare, formatSpeed, type Progress } from './progress.ts'

/** `pocket encode`: a recording as latents. */
export const encode = async (path: string, flags: CodecFlags, io: Io): Promise<void> => {
  const destination = await openBytesDestination(flags.outputPath, io)
  await produce(destination, flags, io, async (progress) => {
    const recording = await openRecording(path, io)
    try {
      const tts = await loadModel(flags, { signal: io.signal, onProgress: progress.loading })
      const start = performance.now()
      const { data, samples } = await encodeRecording(requireCodec(tts), recording, io.signal, progress)
      const { latentDim, frameRate, sampleRate } = tts.codec.config
      const about = { model: tts.config.modelId, frameRate, samples }
      await destination.write(writeLatents({ data, latentDim, ...about }))
      const worked = (performance.now() - start) / 1000
      const seconds = samples / sampleRate
      return (
        `${destination.label}: ${data.length / latentDim} × ${latentDim} latents of ${formatSeconds(seconds)} ` +
        `of sound, made in ${formatSeconds(worked)} (${formatSpeed(seconds / worked)})`
      )
    } finally {
      recording.close()
    }
  })
}

/** The weights of 2026-01 encode to 512 values, which are for cloning alone: nothing decodes them. */
const requireCodec = ({ codec, config }: PocketTts): PocketTts['codec'] => {
  const { innerDim, latentDim } = codec.config
  if (innerDim === latentDim) return codec
  throw new InputError(
    `the codec of ${config.modelId} encodes to ${innerDim} values and decodes from ${latentDim}: its latents are ` +
      'for cloning voices only; take another model',
  )
}

/** A frame at a time: an interruption gets through, and of the recording no more than a piece is in memory. */
const encodeRecording = async (
  codec: PocketTts['codec'],
  recording: Recording,
  signal: AbortSignal,
  progress: Progress,
): Promise<{ data: Float32Array; samples: number }> => {
  const { frameSize, sampleRate } = codec.config
  const encoder = codec.createEncoder()
  const latents: Float32Array[] = []
  const start = performance.now()
  let samples = 0
  for await (const piece of recording.pieces) {
    for (let begin = 0; begin < piece.length; begin += frameSize) {
      signal.throwIfAborted()
      const part = piece.subarray(begin, begin + frameSize)
      latents.push((await encoder.encode(part)).data)
      samples += part.length
    }
    const seconds = samples / sampleRate
    const speed = formatSpeed((1000 * seconds) / (performance.now() - start))
    progress.working(`Encoding: ${formatSeconds(seconds)}${formatShare(recording.share)}, ${speed}`)
  }
  latents.push((await encoder.flush()).data)
  return { data: concatenate(latents), samples }
}
