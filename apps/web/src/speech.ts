import type { AudioFrame, GenerateOptions, SpeechEngine } from '@pocket/tts'
import type { Playback, Player } from './playback/player.ts'
import { SpeechMetrics } from './speech-metrics.ts'

export interface SpeechListener {
  /** Called with each frame as it is made, usually long before it is heard. */
  onFrame(frame: AudioFrame): void
  /** Called with the samples heard so far. */
  onPlayed(samples: number): void
  onMetrics(metrics: SpeechMetrics): void
}

/**
 * Speaks one text: frames go to the loudspeaker while later ones are still being made. Resolves when the last sample
 * has been heard; rejects with the signal's reason soon after an abort, when the sound has faded.
 */
export const speak = async (
  engine: SpeechEngine,
  player: Player,
  { text, ...options }: GenerateOptions & { readonly text: string; readonly signal: AbortSignal },
  listener: SpeechListener,
): Promise<void> => {
  const metrics = new SpeechMetrics(engine.sampleRate)
  const { signal } = options
  // What is shown of the utterance before must not be taken for this one's.
  listener.onMetrics(metrics)
  const playback = await player.begin(({ played, underruns }) => {
    metrics.notePlayback(played, underruns)
    listener.onPlayed(played)
    listener.onMetrics(metrics)
  })
  const stop = () => playback.stop()
  signal.addEventListener('abort', stop)
  try {
    signal.throwIfAborted()
    metrics.noteWorkBegins()
    await playFrames(engine.stream(text, options), playback, (frame) => {
      metrics.noteFrame(frame.pcm.length)
      listener.onFrame(frame)
      listener.onMetrics(metrics)
    })
    await playback.finished
    signal.throwIfAborted()
  } catch (error) {
    playback.stop()
    await playback.finished
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const playFrames = async (
  frames: AsyncIterable<AudioFrame>,
  playback: Playback,
  onFrame: (frame: AudioFrame) => void,
): Promise<void> => {
  for await (const frame of frames) {
    playback.push(frame.pcm)
    onFrame(frame)
  }
  playback.end()
}
