import { mini } from '@pocket/mini'
import { type NoiseSource, PocketTts } from '@pocket/tts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fastest } from './support/levels.ts'
import { type MemoryReading, watchMemory } from './support/memory-watch.ts'

const utterances = 500
/** Long enough for every way of ending to have come at every frame. */
const warmUp = 100
const readEvery = 50

const readMemory = watchMemory()
let tts: PocketTts
beforeAll(async () => {
  tts = await PocketTts.load(mini, { simd: fastest })
}, 60_000)
afterAll(() => tts.dispose())

/** Whole numbers below `end`, the same every time. */
const randomNumbers = (seed: number) => {
  let state = seed
  return (end: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return (state >>> 8) % end
  }
}

const stopped = new Error('stopped')

/** Without the matchers of the test runner, which remember every call they were asked about. */
const expectRejection = async (
  call: Promise<unknown>,
  isExpected: (error: unknown) => boolean,
): Promise<void> => {
  const error = await call.then(
    () => 'none',
    (reason: unknown) => reason,
  )
  if (!isExpected(error)) throw new Error(`an unexpected outcome: ${error}`, { cause: error })
}

/** Stops by its signal after so many frames; 0 is while the prompt is read. */
const abort = async (text: string, voice: string, frames: number): Promise<void> => {
  const controller = new AbortController()
  const { signal } = controller
  if (frames === 0) setTimeout(() => controller.abort(stopped))
  const onProgress = (progress: { frames: number }): void => {
    if (progress.frames === frames) controller.abort(stopped)
  }
  await expectRejection(tts.generate(text, { voice, signal, onProgress }), (error) => error === stopped)
}

/** Leaves the loop after so many frames. */
const leave = async (text: string, voice: string, frames: number): Promise<void> => {
  for await (const { index } of tts.stream(text, { voice })) if (index >= frames) break
}

/** Fails in the middle: what the caller brought along throws. */
const fail = async (text: string, voice: string, frames: number): Promise<void> => {
  let left = frames
  const noise: NoiseSource = {
    next(length) {
      if (left-- === 0) throw stopped
      return new Float32Array(length)
    },
  }
  await expectRejection(tts.generate(text, { voice, noise }), (error) => error === stopped)
}

/** Never begins: what was asked for is refused. */
const refuse = async (): Promise<void> => {
  await expectRejection(tts.generate(''), hasCode('empty-text'))
  await expectRejection(tts.generate('No.', { voice: 'nobody' }), hasCode('unknown-voice'))
}

const hasCode =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof Error && 'code' in error && error.code === code

const finish = async (text: string, voice: string): Promise<void> => {
  await tts.generate(text, { voice })
}

const texts = ['Yes.', 'Good morning.', 'It is getting late.', 'Seven of them.']
const endings = [abort, leave, fail, abort, leave, fail, refuse, finish]
const mostFrames = 6

describe(`${utterances} utterances, most of them stopped at some frame`, () => {
  const readings: MemoryReading[] = []
  let before: Float32Array
  let after: Float32Array

  beforeAll(async () => {
    before = await tts.generate('Still here.', { seed: 3 })
    const random = randomNumbers(1)
    for (let count = 1; count <= utterances; count++) {
      const voices = tts.voices()
      const one = (): Promise<void> =>
        endings[random(endings.length)]!(
          texts[random(texts.length)]!,
          voices[random(voices.length)]!,
          random(mostFrames),
        )
      // Every tenth time two at once: neither gives back what the other holds.
      await (count % 10 === 0 ? Promise.all([one(), one()]) : one())
      if (count >= warmUp && count % readEvery === 0) readings.push(readMemory())
    }
    after = await tts.generate('Still here.', { seed: 3 })
  }, 300_000)

  test('leave the instance as it was', () => {
    expect(after).toEqual(before)
  })

  test('never make the WebAssembly memory grow once it has what two of them need', () => {
    expect(readings[0]?.wasm).toBeGreaterThan(1 << 20)
    expect(new Set(readings.map(({ wasm }) => wasm)).size).toBe(1)
  })

  test('leave nothing in the heap', () => {
    const heap = readings.map(({ heap }) => heap)
    // Measured: 160 KB in 400 utterances, ever less, for what the engine learns of the code. A frame of sound has 7.5 KB.
    expect(Math.max(...heap) - heap[0]!).toBeLessThan(512 * 1024)
  })
})
