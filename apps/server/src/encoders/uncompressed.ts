import { pcm16, wavHeader } from '@pocket/tts'
import type { Encoder } from './encoder.ts'

/** 16-bit little-endian samples, nothing else: what OpenAI calls `pcm`. */
export const pcmEncoder = (): Encoder =>
  new TransformStream({ transform: (samples, controller) => controller.enqueue(pcm16(samples)) })

/** One header that says that the length is unknown, then samples; nothing after the last one. */
export const wavEncoder = (sampleRate: number): Encoder =>
  new TransformStream({
    start: (controller) => controller.enqueue(wavHeader('unknown', sampleRate)),
    transform: (samples, controller) => controller.enqueue(pcm16(samples)),
  })
