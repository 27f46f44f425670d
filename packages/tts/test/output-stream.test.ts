import { mini } from '@pocket/mini'
import {
  encodeWav,
  loadInWorker,
  PocketTts,
  type SpeechEngine,
  toReadableStream,
  toResponse,
} from '@pocket/tts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from './support/errors.ts'
import { collect, framesOf } from './support/frames.ts'
import { fastest } from './support/levels.ts'

const headerBytes = 44

const bytesOf = async (stream: ReadableStream<Uint8Array>): Promise<Uint8Array> =>
  new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())

/** All samples of `framesOf(count)`. */
const samplesOf = (count: number): Float32Array =>
  Float32Array.from({ length: 4 * count }, (_, i) => (Math.floor(i / 4) + 1) / 100)

describe('a stream of bytes', () => {
  test('is the WAV file of the samples, but for the lengths that nobody knows yet', async () => {
    const bytes = await bytesOf(toReadableStream(framesOf(5).frames))
    const whole = encodeWav(samplesOf(5))
    expect(bytes.subarray(headerBytes)).toEqual(whole.subarray(headerBytes))
    const header = [...whole.subarray(0, headerBytes)]
    const unknown = [0xff, 0xff, 0xff, 0xff]
    expect([...bytes.subarray(0, headerBytes)]).toEqual(
      header.toSpliced(4, 4, ...unknown).toSpliced(40, 4, ...unknown),
    )
  })

  test('is raw samples on request', async () => {
    const s16le = await bytesOf(toReadableStream(framesOf(5).frames, { format: 's16le' }))
    expect(s16le).toEqual(encodeWav(samplesOf(5)).subarray(headerBytes))
    const f32le = await bytesOf(toReadableStream(framesOf(5).frames, { format: 'f32le' }))
    const view = new DataView(f32le.buffer)
    expect(f32le).toHaveLength(4 * 4 * 5)
    expect(samplesOf(5).map((_, i) => view.getFloat32(4 * i, true))).toEqual(samplesOf(5))
  })

  test('states the sample rate', async () => {
    const bytes = await bytesOf(toReadableStream(framesOf(1).frames, { sampleRate: 48000 }))
    expect(new DataView(bytes.buffer).getUint32(24, true)).toBe(48000)
  })

  test('of no samples is an empty file', async () => {
    async function* silence() {
      yield { pcm: new Float32Array(0) }
    }
    expect(await bytesOf(toReadableStream(framesOf(0).frames))).toHaveLength(headerBytes)
    expect(await bytesOf(toReadableStream(silence()))).toHaveLength(headerBytes)
    expect(await bytesOf(toReadableStream(silence(), { format: 's16le' }))).toHaveLength(0)
  })

  test('takes one frame a read: a slow reader makes nothing run ahead', async () => {
    const { frames, seen } = framesOf(100)
    const stream = toReadableStream(frames)
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(seen.made).toBe(0)
    const reader = stream.getReader()
    for (let read = 1; read <= 10; read++) {
      await reader.read()
      await new Promise((resolve) => setTimeout(resolve, 0))
      expect(seen.made).toBe(read)
    }
    await reader.cancel()
    expect(seen).toEqual({ made: 10, ended: true })
  })

  test('stops what makes the frames when it is cancelled, even while that waits', async () => {
    let left = false
    const frames: AsyncIterable<{ pcm: Float32Array }> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        async return() {
          left = true
          return { done: true, value: undefined }
        },
      }),
    }
    const reader = toReadableStream(frames).getReader()
    const reading = reader.read()
    await reader.cancel()
    expect(left).toBe(true)
    expect((await reading).done).toBe(true)
  })

  test('fails with what the frames fail with: before any byte, or after those that came', async () => {
    const failure = new Error('no more')
    async function* failing(after: number) {
      yield* framesOf(after).frames
      throw failure
    }
    await expect(toReadableStream(failing(0)).getReader().read()).rejects.toBe(failure)
    const reader = toReadableStream(failing(2)).getReader()
    expect((await reader.read()).value).toHaveLength(headerBytes + 8)
    expect((await reader.read()).value).toHaveLength(8)
    await expect(reader.read()).rejects.toBe(failure)
  })

  test('refuses formats and rates that are none', async () => {
    await refusal(
      () => toReadableStream(framesOf(1).frames, { format: 'mp3' as 'wav' }),
      'invalid-option',
      'mp3',
      's16le',
    )
    await refusal(
      () => toReadableStream(framesOf(1).frames, { sampleRate: 0 }),
      'invalid-option',
      'sampleRate',
    )
  })
})

describe('a response', () => {
  test('has the bytes of the stream, and headers that say what they are', async () => {
    const response = await toResponse(framesOf(5).frames)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'accept-ranges': 'none',
      'cache-control': 'no-store',
      'content-type': 'audio/wav',
    })
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(
      await bytesOf(toReadableStream(framesOf(5).frames)),
    )
  })

  test.each([
    ['s16le', 'audio/pcm; rate=16000; channels=1; format=s16le'],
    ['f32le', 'audio/pcm; rate=16000; channels=1; format=f32le'],
  ] as const)('names the raw format: %s', async (format, type) => {
    const response = await toResponse(framesOf(1).frames, { format, sampleRate: 16000 })
    expect(response.headers.get('content-type')).toBe(type)
  })

  test('takes status and headers of the caller', async () => {
    const response = await toResponse(framesOf(1).frames, {
      status: 203,
      headers: { 'Cache-Control': 'max-age=60', 'x-voice': 'rms' },
    })
    expect(response.status).toBe(203)
    expect(Object.fromEntries(response.headers)).toEqual({
      'accept-ranges': 'none',
      'cache-control': 'max-age=60',
      'content-type': 'audio/wav',
      'x-voice': 'rms',
    })
  })

  test('rejects with an error before the first byte, and breaks off at a later one', async () => {
    const failure = new Error('no more')
    async function* failing(after: number) {
      yield* framesOf(after).frames
      throw failure
    }
    await expect(toResponse(failing(0))).rejects.toBe(failure)
    const response = await toResponse(failing(3))
    await expect(response.arrayBuffer()).rejects.toBe(failure)
  })

  test('that cannot be made stops the generation', async () => {
    const { frames, seen } = framesOf(100)
    await expect(toResponse(frames, { status: 204 })).rejects.toThrow(TypeError)
    expect(seen).toEqual({ made: 1, ended: true })
  })

  test('makes the first frame, and no other before it is read', async () => {
    const { frames, seen } = framesOf(100)
    const response = await toResponse(frames)
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(seen.made).toBe(1)
    await response.body?.cancel()
    expect(seen).toEqual({ made: 1, ended: true })
  })
})

describe.each([
  ['on this thread', PocketTts.load],
  ['in a worker', loadInWorker],
])('speech %s', (_, load) => {
  let engine: SpeechEngine
  beforeAll(async () => {
    engine = await load(mini, { simd: fastest })
  })
  afterAll(() => engine.dispose())

  test('goes through a response as it is', async () => {
    const text = 'Hello from my pocket.'
    const response = await toResponse(engine.stream(text), { format: 's16le' })
    const pcm = await engine.generate(text)
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(encodeWav(pcm).subarray(headerBytes))
  })

  test('that is refused rejects before there is a response', async () => {
    await refusal(toResponse(engine.stream('Yes.', { voice: 'nobody' })), 'unknown-voice')
  })

  test('stops when the reader goes away', async () => {
    let made = 0
    const frames = engine.stream('Hello there. '.repeat(50), { onProgress: () => made++ })
    const response = await toResponse(frames)
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    await engine.generate('Yes.')
    const before = made
    await engine.generate('Yes.')
    expect(made).toBe(before)
    expect(made).toBeLessThan(20)
    expect(await collect(frames)).toEqual([])
  })

  test('breaks a response off where it is aborted', async () => {
    const controller = new AbortController()
    const response = await toResponse(engine.stream('Hello from my pocket.', { signal: controller.signal }))
    const reader = response.body!.getReader()
    await reader.read()
    controller.abort('enough')
    await expect(reader.read()).rejects.toBe('enough')
  })
})
