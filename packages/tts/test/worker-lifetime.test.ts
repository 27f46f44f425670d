import { mini } from '@pocket/mini'
import { loadInWorker, PocketTts, type SpeechEngine } from '@pocket/tts'
import { describe, expect, test } from 'vitest'
import { endOf, startModule } from './support/child.ts'
import { refusal } from './support/errors.ts'
import { collect } from './support/frames.ts'
import { fastest } from './support/levels.ts'
import { withThreads } from './support/threads.ts'

const sentence = 'Hello from my pocket.'
const paragraph =
  'The road is long. Nobody knows where we are going tonight! Will you come with us, my friend?'

const start = async () => {
  const { value: engine, threads } = await withThreads(() => loadInWorker(mini, { simd: fastest }))
  return { engine, ...threads[0]! }
}

/** Calls of every kind, under way. */
const manyCalls = async (engine: SpeechEngine) => {
  const waitingText = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }
  const begun = engine.stream(paragraph)
  await begun.next()
  const calls = [
    engine.speak(paragraph),
    engine.generate(paragraph),
    collect(begun),
    engine.stream(waitingText).next(),
    engine.cloneVoice(new Float32Array(24_000)),
  ]
  // Each is awaited later, in turn; until then its rejection is expected.
  for (const call of calls) call.catch(() => {})
  return calls
}

/** Every call the engine has, of which none may succeed any more. */
const laterCalls = (engine: SpeechEngine) => [
  () => engine.speak(sentence),
  () => engine.generate(sentence),
  () => engine.stream(sentence).next(),
  () => engine.loadVoice('slt'),
  () => engine.cloneVoice(new Float32Array(1920)),
]

describe('dispose', () => {
  test('ends the thread; what is under way and what comes later rejects', async () => {
    const { engine, ended } = await start()
    const calls = await manyCalls(engine)
    engine.dispose()
    for (const call of calls) await refusal(call, 'disposed')
    for (const call of laterCalls(engine)) await refusal(call(), 'disposed', 'load another')
    await ended
    engine.dispose()
    // What needs no model is still there.
    expect(engine.voices()).toEqual(['awb', 'rms', 'slt'])
  })
})

describe('a worker that ends by itself', () => {
  test('because of an error of its own, rejects every call with it', async () => {
    const { engine, thread, ended } = await start()
    const calls = await manyCalls(engine)
    // A command that is none: nobody catches what that leads to.
    thread.postMessage(null)
    for (const call of calls) await refusal(call, 'worker-failed', 'null', 'load the model again')
    for (const call of laterCalls(engine)) await refusal(call(), 'worker-failed')
    await ended
  })

  test('because somebody ended it, rejects every call', async () => {
    const { engine, thread, ended } = await start()
    const calls = await manyCalls(engine)
    await thread.terminate()
    for (const call of calls) await refusal(call, 'worker-failed', 'exit code 1')
    for (const call of laterCalls(engine)) await refusal(call(), 'worker-failed')
    await ended
    engine.dispose()
  })

  test('leaves the others alone', async () => {
    const [one, other] = [await start(), await start()]
    const expected = await other.engine.generate(sentence)
    const speaking = other.engine.generate(sentence)
    await one.thread.terminate()
    await refusal(one.engine.generate(sentence), 'worker-failed')
    expect(await speaking).toEqual(expected)
    other.engine.dispose()
  })
})

describe('loading', () => {
  test('that fails leaves no thread behind', async () => {
    const { threads } = await withThreads(() => refusal(loadInWorker('./no-such-model'), 'not-found'))
    expect(threads).toHaveLength(1)
    await threads[0]?.ended
  })

  test('that cannot succeed starts none', async () => {
    const { threads } = await withThreads(async () => {
      await refusal(loadInWorker(mini, { maxPositions: 0 }), 'invalid-option')
      await expect(loadInWorker(mini, { signal: AbortSignal.abort('no') })).rejects.toBe('no')
    })
    expect(threads).toEqual([])
  })

  test('stops at once when it is aborted, with the reason, and ends the thread', async () => {
    const controller = new AbortController()
    const { threads } = await withThreads(async () => {
      const loading = loadInWorker(mini, {
        signal: controller.signal,
        onProgress: () => controller.abort('enough'),
      })
      await expect(loading).rejects.toBe('enough')
    })
    await threads[0]?.ended
  })
})

describe('the calling thread', () => {
  /** How often the event loop turns while something is done. */
  const turnsDuring = async (work: Promise<unknown>): Promise<number> => {
    let turns = 0
    let isOver = false
    const turn = (): void => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    turn()
    await work
    isOver = true
    return turns
  }

  test('turns its event loop all the time, where on itself it turns about once a frame', async () => {
    const here = await PocketTts.load(mini, { simd: fastest })
    const { engine } = await start()
    const frames = (await here.generate(paragraph)).length / 1920
    expect(await turnsDuring(here.generate(paragraph))).toBeLessThan(4 * frames)
    expect(await turnsDuring(engine.generate(paragraph))).toBeGreaterThan(20 * frames)
    here.dispose()
    engine.dispose()
  })
})

describe('a process', () => {
  const load =
    "import { mini } from '@pocket/mini'; import { loadInWorker } from '@pocket/tts'; const engine = await loadInWorker(mini);"

  test('lives as long as somebody waits for speech, and ends by itself though nobody disposes of the engine', async () => {
    const code = `${load} console.log((await engine.generate('Yes.')).length); await engine.stream('Yes.').next(); console.log('over')`
    expect(await endOf(startModule(code))).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^\d+\nover\n$/),
    })
  })

  test('is not kept alive by a stream that nobody reads on', async () => {
    const code = `${load} await engine.stream('Yes.').next(); await engine.stream('No.').next()`
    expect(await endOf(startModule(code))).toMatchObject({ code: 0 })
  })
})
