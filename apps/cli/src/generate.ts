import { type GenerateOptions, type PocketTts, voiceLocation } from '@pocket/tts'
import { chooseModel } from './choose-model.ts'
import { cloneHeard, hearRecording, usualSeconds } from './clone-recording.ts'
import type { Destination } from './destination/destination.ts'
import { openDestination } from './destination/open-destination.ts'
import type { GenerateFlags } from './generate-flags.ts'
import type { Io } from './io.ts'
import { loadModel } from './load-model.ts'
import { produce } from './produce.ts'
import { formatSeconds, formatSpeed, type Progress } from './progress.ts'
import { readText } from './read-text.ts'

/** `pocket generate`: opens the output, reads the text, loads the model and speaks. */
export const generate = async (argument: string | undefined, flags: GenerateFlags, io: Io): Promise<void> => {
  checkModelAndVoice(flags)
  const destination = await openDestination(flags.outputPath, io)
  await produce(destination, flags, io, async (progress) => {
    const text = await readText(argument, flags.text, io)
    const { voice: given = '' } = flags
    const heard = isRecording(given) ? await hearRecording(given, usualSeconds, io) : undefined
    const options = toOptions(flags, io, progress)
    const loading = { signal: io.signal, onProgress: progress.loading }
    const tts = await loadModel(flags, { ...loading, onWarning: options.onWarning })
    const name = flags.voice ?? tts.defaultVoice
    const voice = heard
      ? await cloneHeard(tts, heard, io.signal, progress)
      : name && (await tts.loadVoice(name, loading))
    const result = await speak(tts, text, { ...options, voice }, destination)
    await destination.finish()
    return result
  })
}

/** Tells before anything is typed or fetched that there is no such model, or that it has no such voice. */
const checkModelAndVoice = (flags: GenerateFlags): void => {
  const { checkpoint } = chooseModel(flags)
  const { voice = '' } = flags
  // A single word is a name, and no place.
  if (checkpoint && /^[\w-]+$/.test(voice)) voiceLocation(checkpoint, voice)
}

/** By its name, so that it is known before a model is loaded; what is in it decides whether it will do. */
const isRecording = (voice: string): boolean =>
  /\.(wave?|mp3|flac|og[ag]|opus|m4a|mp4|aac|aiff?|webm)$/i.test(voice) && !voice.includes('://')

const toOptions = (flags: GenerateFlags, io: Io, progress: Progress): GenerateOptions => ({
  seed: flags.seed,
  temperature: flags.temperature,
  lsdSteps: flags.lsdDecodeSteps,
  noiseClamp: flags.noiseClamp,
  eosThreshold: flags.eosThreshold,
  framesAfterEos: flags.framesAfterEos,
  maxTokensPerChunk: flags.maxTokens,
  signal: io.signal,
  onProgress: progress.speaking,
  onWarning: ({ message }) => {
    progress.clear()
    if (!flags.quiet) io.stderr.write(`pocket: warning: ${message}\n`)
  },
})

/** Writes speech as it is made, and says what came of it. */
const speak = async (
  tts: PocketTts,
  text: string,
  options: GenerateOptions,
  destination: Destination,
): Promise<string> => {
  const start = performance.now()
  let samples = 0
  await destination.begin(tts.sampleRate)
  for await (const { pcm } of tts.stream(text, options)) {
    await destination.write(pcm)
    samples += pcm.length
  }
  const worked = (performance.now() - start) / 1000
  const spoken = samples / tts.sampleRate
  const speed = formatSpeed(spoken / worked)
  return `${destination.label}: ${formatSeconds(spoken)} of speech, made in ${formatSeconds(worked)} (${speed})`
}
