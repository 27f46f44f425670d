import { mini } from '@pocket/mini'
import { type GenerateProgress, PocketTts, type Utterance } from '@pocket/tts'
import { relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fastest } from './support/levels.ts'
import { loudness, medianPitch } from './support/voice-print.ts'

const sentence = 'Hello from my pocket.'
const paragraph =
  'The road is long. Nobody knows where we are going tonight! Will you come with us, my friend?'

let tts: PocketTts
beforeAll(async () => {
  tts = await PocketTts.load(mini, { simd: fastest })
})
afterAll(() => tts.dispose())

/** The largest step from one sample to the next. */
const steepest = (samples: Float32Array): number =>
  samples.reduce((most, sample, i) => Math.max(most, Math.abs(sample - (samples[i - 1] ?? 0))), 0)

describe('the embedded model', () => {
  test('speaks a sentence and knows when it is over', async () => {
    const { pcm, sampleRate, chunks, warnings } = await tts.speak(sentence)
    expect(sampleRate).toBe(24000)
    expect(warnings).toEqual([])
    expect(chunks).toHaveLength(1)
    expect(chunks[0]).toMatchObject({ text: sentence, framesAfterEos: 5 })
    expect(chunks[0]?.eosStep).toBeGreaterThan(8)
    expect(chunks[0]?.frames).toBe((chunks[0]?.eosStep ?? 0) + 5)
    expect(pcm).toHaveLength(1920 * (chunks[0]?.frames ?? 0))
    expect(pcm.every(Number.isFinite)).toBe(true)
    // Speech, neither silence nor noise at full scale.
    expect(loudness(pcm)).toBeGreaterThan(0.01)
    expect(loudness(pcm)).toBeLessThan(0.5)
  })

  test('has three voices that differ', async () => {
    expect(tts.voices()).toEqual(['awb', 'rms', 'slt'])
    expect(tts.defaultVoice).toBe('rms')
    const pitches: number[] = []
    for (const voice of tts.voices()) {
      const { pcm, chunks } = await tts.speak(sentence, { voice })
      expect(chunks[0]?.eosStep).not.toBeNull()
      pitches.push(medianPitch(pcm))
    }
    const [awb = 0, rms = 0, slt = 0] = pitches
    // Measured on the training voices: 129, 101 and 171 Hz.
    expect(Math.abs(awb - 129)).toBeLessThan(20)
    expect(Math.abs(rms - 101)).toBeLessThan(20)
    expect(Math.abs(slt - 171)).toBeLessThan(25)
  })

  test('begins without a click', async () => {
    for (const voice of tts.voices()) {
      for (const seed of [1, 3, 5]) {
        const pcm = await tts.generate('Seven forty six in the evening.', { voice, seed })
        // Speech has steps of 0.1 to 0.35; its first 10 ms were measured at 3e-4, in silence.
        expect(steepest(pcm.subarray(0, 240))).toBeLessThan(0.005)
      }
    }
  })
})

describe('a seed', () => {
  test('makes the same samples every time, and others than another seed', async () => {
    const first = await tts.generate(sentence, { seed: 7 })
    expect(await tts.generate(sentence, { seed: 7 })).toEqual(first)
    expect(await tts.generate(sentence, { seed: 7n })).toEqual(first)
    const other = await tts.generate(sentence, { seed: 1n << 40n })
    expect(other).not.toEqual(first)
  })

  test('may be left out, and temperature 0 needs none', async () => {
    expect(await tts.generate(sentence)).toEqual(await tts.generate(sentence, { seed: 0x5eedc0ffee01 }))
    const still = { temperature: 0, maxTokensPerChunk: 50 }
    expect(await tts.generate('Yes.', { ...still, seed: 1 })).toEqual(
      await tts.generate('Yes.', { ...still, seed: 2 }),
    )
  })

  test('means the same on an instance loaded anew', async () => {
    const another = await PocketTts.load(mini, { simd: fastest })
    expect(await another.generate(sentence, { seed: 3 })).toEqual(await tts.generate(sentence, { seed: 3 }))
    another.dispose()
  })
})

describe('two calls at once on one instance', () => {
  test('do not touch each other', async () => {
    const calls = [
      { text: paragraph, options: { voice: 'rms', seed: 1 } },
      { text: sentence, options: { voice: 'slt', seed: 2, lsdSteps: 2 } },
      { text: 'The quick brown fox jumps over the lazy dog.', options: { voice: 'awb', temperature: 0.7 } },
    ]
    const alone: Utterance[] = []
    for (const { text, options } of calls) alone.push(await tts.speak(text, options))
    const together = await Promise.all(calls.map(({ text, options }) => tts.speak(text, options)))
    expect(together).toEqual(alone)
  })

  test('take turns, frame by frame', async () => {
    const order: string[] = []
    const speak = (name: string) => tts.generate(sentence, { onProgress: () => order.push(name) })
    await Promise.all([speak('a'), speak('b')])
    const changes = order.filter((name, i) => i > 0 && name !== order[i - 1]).length
    expect(changes).toBeGreaterThan(order.length / 2)
  })

  test('one that fails leaves the other alone', async () => {
    const expected = await tts.generate(sentence)
    const controller = new AbortController()
    const failing = tts.generate(paragraph, {
      signal: controller.signal,
      onProgress: ({ frames }) => frames === 5 && controller.abort(),
    })
    const [outcome, pcm] = await Promise.all([failing.catch((error) => error.name), tts.generate(sentence)])
    expect(outcome).toBe('AbortError')
    expect(pcm).toEqual(expected)
  })
})

describe('an abort', () => {
  test('before the call rejects at once', async () => {
    const reason = new Error('changed my mind')
    await expect(tts.generate(sentence, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  test('at any frame, 20 times, leaves the instance as it was', async () => {
    const expected = await tts.generate(sentence, { seed: 5 })
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController()
      const reason = new Error(`round ${round}`)
      // Frames 1 to 40 in an order that jumps about; the paragraph has more.
      const stopAt = 1 + ((round * 17) % 40)
      let frames = 0
      const onProgress = (progress: GenerateProgress): void => {
        frames = progress.frames
        if (frames === stopAt) setTimeout(() => controller.abort(reason))
      }
      const call = tts.generate(paragraph, { signal: controller.signal, onProgress })
      await expect(call).rejects.toBe(reason)
      expect(frames).toBeLessThanOrEqual(stopAt + 2)
    }
    expect(await tts.generate(sentence, { seed: 5 })).toEqual(expected)
  })

  test('forgets the signal afterwards', async () => {
    const controller = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = controller.signal
    controller.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++
      addEventListener.apply(controller.signal, args)
    }
    controller.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--
      removeEventListener.apply(controller.signal, args)
    }
    await tts.generate('Yes.', { signal: controller.signal })
    expect(listeners).toBe(0)
  })
})

describe('memory', () => {
  test('is flat over calls that end and calls that are stopped', async () => {
    const round = async (seed: number): Promise<void> => {
      await tts.generate('Yes, my friend.', { seed })
      for await (const { index } of tts.stream(paragraph, { seed })) if (index === 1 + (seed % 7)) break
      const signal = AbortSignal.timeout(10)
      await tts.generate(paragraph, { signal }).catch(() => undefined)
    }
    for (let seed = 0; seed < 5; seed++) await round(seed)
    const before = process.memoryUsage()
    for (let seed = 0; seed < 20; seed++) await round(seed)
    const after = process.memoryUsage()
    // One state kept per call would be 60 of some 4 MB, and the executor's memory never shrinks.
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(20e6)
    expect(after.rss - before.rss).toBeLessThan(60e6)
  })
})

describe('progress', () => {
  test('tells chunks, frames and seconds', async () => {
    const seen: GenerateProgress[] = []
    const { chunks, pcm } = await tts.speak(paragraph, {
      maxTokensPerChunk: 20,
      onProgress: (progress) => seen.push(progress),
    })
    expect(chunks.length).toBeGreaterThan(1)
    expect(seen.map(({ frames }) => frames)).toEqual(seen.map((_, i) => i + 1))
    expect(seen.at(-1)).toMatchObject({ chunkCount: chunks.length, seconds: pcm.length / 24000 })
    expect([...new Set(seen.map(({ chunkIndex }) => chunkIndex))]).toEqual([...chunks.keys()])
  })
})

test('chunks are spoken alone: the first of two sounds as it does by itself', async () => {
  const options = { maxTokensPerChunk: 5 }
  const both = await tts.speak('Good morning. Good night.', options)
  const first = await tts.speak('Good morning.', options)
  expect(both.chunks[0]).toEqual(first.chunks[0])
  expect(relativeL2(both.pcm.subarray(0, first.pcm.length), first.pcm)).toBe(0)
})

describe('dispose', () => {
  test('ends what is under way and refuses what comes', async () => {
    const model = await PocketTts.load(mini, { simd: fastest })
    const frames = model.stream(paragraph)
    await frames.next()
    const speaking = model.generate(paragraph)
    const disposed = { name: 'PocketTtsError', code: 'disposed' }
    setTimeout(() => {
      model.dispose()
      model.dispose()
    }, 20)
    await expect(speaking).rejects.toMatchObject(disposed)
    await expect(frames.next()).rejects.toMatchObject(disposed)
    await expect(model.generate('Yes.')).rejects.toMatchObject(disposed)
    await expect(model.stream('Yes.').next()).rejects.toMatchObject(disposed)
    await expect(model.loadVoice('rms')).rejects.toMatchObject(disposed)
    await expect(model.cloneVoice(new Float32Array(24000))).rejects.toMatchObject(disposed)
    expect(model.voices()).toEqual(['awb', 'rms', 'slt'])
  })
})
