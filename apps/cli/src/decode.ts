import type { PocketTts } from '@pocket/tts'
import type { CodecFlags } from './codec-flags.ts'
import type { Destination } from './destination/destination.ts'
import { openDestination } from './destination/open-destination.ts'
import { InputError } from './errors.ts'
import type { Io } from './io.ts'
import { type Latents, readLatents } from './latents-file.ts'
import { loadModel } from './load-model.ts'
import { openInput, readWhole } from './open-input.ts'
import { produce } from './produce.ts'
import { formatSeconds, formatShare, formatSpeed, type Progress } from './progress.ts'

/** Latents take a thirtieth of their sound, and a WAV file ends at 4 GiB. */
const limit = { mostBytes: 256 * 1024 * 1024, advice: 'that is more than a WAV file can hold; split it' }

/** `pocket decode`: latents as sound. */
export const decode = async (path: string, flags: CodecFlags, io: Io): Promise<void> => {
  const destination = await openDestination(flags.outputPath, io)
  await produce(destination, flags, io, async (progress) => {
    const input = await openInput(path, io)
    const latents = readLatents(await readWhole(input, limit), input.label)
    const tts = await loadModel(flags, { signal: io.signal, onProgress: progress.loading })
    checkLatents(latents, tts, input.label)
    const start = performance.now()
    const samples = await decodeLatents(latents, tts.codec, destination, io.signal, progress)
    const worked = (performance.now() - start) / 1000
    const seconds = samples / tts.sampleRate
    return (
      `${destination.label}: ${formatSeconds(seconds)} of sound, made in ${formatSeconds(worked)} ` +
      `(${formatSpeed(seconds / worked)})`
    )
  })
}

/** Latents mean something to the codec that made them, and to no other. */
const checkLatents = (latents: Latents, { codec, config }: PocketTts, label: string): void => {
  const { latentDim, frameRate, frameSize } = codec.config
  const refuse = (found: string, expected: string): never => {
    throw new InputError(
      `${label}: ${found}, ${expected}; give the model that encoded it with --model or --language`,
    )
  }
  if (latents.model !== undefined && latents.model !== config.modelId) {
    refuse(`it was encoded with the model ${latents.model}`, `this model is ${config.modelId}`)
  }
  if (latents.latentDim !== latentDim) {
    refuse(`its latents have ${latents.latentDim} values`, `those of ${config.modelId} have ${latentDim}`)
  }
  if (latents.frameRate !== undefined && latents.frameRate !== frameRate) {
    refuse(`it has ${latents.frameRate} frames a second`, `${config.modelId} has ${frameRate}`)
  }
  const frames = latents.data.length / latentDim
  const { samples = frames * frameSize } = latents
  if (!Number.isSafeInteger(samples) || Math.ceil(samples / frameSize) !== frames) {
    throw new InputError(`${label}: ${samples} samples do not fill ${frames} frames; the file is damaged`)
  }
}

/** Writes each frame as it is made; gives the number of samples. */
const decodeLatents = async (
  { data, latentDim, samples }: Latents,
  codec: PocketTts['codec'],
  destination: Destination,
  signal: AbortSignal,
  progress: Progress,
): Promise<number> => {
  const { frameSize, sampleRate } = codec.config
  const frames = data.length / latentDim
  const total = samples ?? frames * frameSize
  const decoder = codec.createDecoder()
  const start = performance.now()
  await destination.begin(sampleRate)
  for (let frame = 0; frame < frames; frame++) {
    signal.throwIfAborted()
    const pcm = await decoder.decode(data.subarray(frame * latentDim, (frame + 1) * latentDim), 1)
    await destination.write(pcm.subarray(0, total - frame * frameSize))
    const seconds = ((frame + 1) * frameSize) / sampleRate
    const speed = formatSpeed((1000 * seconds) / (performance.now() - start))
    progress.working(`Decoding: ${formatSeconds(seconds)}${formatShare((frame + 1) / frames)}, ${speed}`)
  }
  await destination.finish()
  return total
}
