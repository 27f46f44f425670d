import { readFile } from 'node:fs/promises'
import { createEncoder } from 'wasm-media-encoders'
import type { Encoder } from './encoder.ts'

type Bitrate = 32_000 | 64_000 | 128_000

let compiled: Promise<WebAssembly.Module> | undefined

/** LAME, compiled once; an instance a stream. */
const compile = async (): Promise<WebAssembly.Module> => {
  const bytes = await readFile(new URL(import.meta.resolve('wasm-media-encoders/wasm/mp3')))
  return WebAssembly.compile(new Uint8Array(bytes))
}

/**
 * MP3 at a constant bitrate, without the header that states a length, which a stream cannot know. It runs where it is
 * called: a frame takes it less than a millisecond, a thread of its own more than a hundred to start.
 */
export const mp3Encoder = async (sampleRate: number, bitrate: Bitrate): Promise<Encoder> => {
  compiled ??= compile()
  const lame = await createEncoder('audio/mpeg', await compiled)
  const kilobits = (bitrate / 1000) as 32 | 64 | 128
  lame.configure({ sampleRate, channels: 1, bitrate: kilobits })
  return new TransformStream({
    transform: (samples, controller) => emit(lame.encode([samples]), controller),
    flush: (controller) => emit(lame.finalize(), controller),
  })
}

/** The bytes are the encoder's own, which the next call overwrites: they are copied. */
const emit = (bytes: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): void => {
  if (bytes.length > 0) controller.enqueue(bytes.slice())
}
