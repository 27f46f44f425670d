import { pcm16 } from '@pocket/tts'
import {
  AppendOnlyStreamTarget,
  type AudioEncodingConfig,
  AudioSample,
  AudioSampleSource,
  Output,
  type OutputFormat,
} from 'mediabunny'
import type { Encoder } from './encoder.ts'

/** A codec in its container, written in order and never gone back to. */
export const muxingEncoder = (
  format: OutputFormat,
  codec: AudioEncodingConfig,
  sampleRate: number,
): Encoder => {
  const bytes = new TransformStream<Uint8Array, Uint8Array>()
  const output = new Output({ format, target: new AppendOnlyStreamTarget(bytes.writable) })
  const track = new AudioSampleSource(codec)
  output.addAudioTrack(track)
  let position = 0
  const add = async (samples: Float32Array): Promise<void> => {
    const sample = new AudioSample({
      // 16 bits, as in a WAV file: a lossless format then holds the same samples.
      data: pcm16(samples),
      format: 's16',
      numberOfChannels: 1,
      sampleRate,
      timestamp: position / sampleRate,
    })
    position += samples.length
    await track.add(sample)
    sample.close()
  }
  const writable = new WritableStream<Float32Array>({
    start: () => output.start(),
    // A codec may have a thread of its own, which must end however the stream does.
    write: (samples) => (samples.length > 0 ? orCancel(add(samples), output) : undefined),
    close: () => orCancel(output.finalize(), output),
    abort: () => output.cancel(),
  })
  return { readable: bytes.readable, writable }
}

const orCancel = async (step: Promise<void>, output: Output): Promise<void> => {
  try {
    await step
  } catch (error) {
    await output.cancel().catch(() => {})
    throw error
  }
}
