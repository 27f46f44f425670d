import type { GenerateOptions, PocketTts } from '@pocket/tts'
import type { Destination } from './destination/destination.ts'
import { openDestination } from './destination/open-destination.ts'
import type { GenerateFlags } from './generate-flags.ts'
import { type Io, write } from './io.ts'
import { loadModel } from './load-model.ts'
import { createProgress, formatSeconds, formatSpeed, type Progress } from './progress.ts'
import { readText } from './read-text.ts'

/** `pocket generate`: opens the output, reads the text, loads the model and speaks. */
export const generate = async (argument: string | undefined, flags: GenerateFlags, io: Io): Promise<void> => {
  const destination = await openDestination(flags.outputPath, io)
  const progress = createProgress(io.stderr, !flags.quiet)
  try {
    const text = await readText(argument, flags.text, io)
    const { model, simd } = flags
    const tts = await loadModel({ model, simd, signal: io.signal, onProgress: progress.loading })
    const result = await speak(tts, text, toOptions(flags, io, progress), destination)
    await destination.finish()
    progress.clear()
    if (!flags.quiet) await write(flags.outputPath === '-' ? io.stderr : io.stdout, `${result}\n`)
  } finally {
    progress.clear()
    await destination.discard()
  }
}

const toOptions = (flags: GenerateFlags, io: Io, progress: Progress): GenerateOptions => ({
  voice: flags.voice,
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
