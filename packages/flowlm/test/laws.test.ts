import { FlowLm, type FlowState, type KvSnapshot, type SharedSnapshot } from '@pocket/flowlm'
import { relativeL2 } from '@tooling/fixtures'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { describeOnEveryLevel } from './levels.ts'
import { cacheRows, openModel, range, readVoice } from './models.ts'
import { slowReading } from './slow-reading.ts'

/** One order of summation against another, over three layers. */
const rounding = 1e-5

const voice = readVoice('tiny-2026-04')
const tokens = fc.array(fc.nat(999), { minLength: 1, maxLength: 24 })

/** Noise that depends on nothing but the step: neighbouring values of a sine are as good as random here. */
const noise = (step: number): Float32Array =>
  Float32Array.from({ length: 32 }, (_, i) => Math.sin(12.9898 * (step * 32 + i + 1)) * 0.8)

const copyOf = (snapshot: KvSnapshot): KvSnapshot => structuredClone(snapshot)

describeOnEveryLevel('laws', (kernels) => {
  let flowLm: FlowLm

  beforeAll(async () => {
    flowLm = await FlowLm.load(openModel('tiny-2026-04'), slowReading(kernels()))
  })

  /** Speaks `steps` latents from the beginning of speech: hidden states, logits and latents in one row. */
  const speak = async (state: FlowState, steps: number, lsdSteps = 1): Promise<number[]> => {
    const values: number[] = []
    let previous: Float32Array | null = null
    for (const step of range(0, steps)) {
      const { hidden, eosLogit }: { hidden: Float32Array; eosLogit: number } = await flowLm.step(
        previous,
        state,
      )
      previous = await flowLm.sampleLatent(hidden, noise(step), lsdSteps)
      values.push(...hidden, eosLogit, ...previous)
    }
    return values
  }

  const withState = async <T>(
    adopt: KvSnapshot | SharedSnapshot,
    use: (state: FlowState) => Promise<T>,
  ): Promise<T> => {
    const state = flowLm.createState({ adopt })
    try {
      return await use(state)
    } finally {
      state.dispose()
    }
  }

  it('a prompt is the same in one pass, in pieces and token by token', async () => {
    const split = fc.tuple(tokens, fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 24 }))
    await fc.assert(
      fc.asyncProperty(split, async ([ids, sizes]) => {
        const whole = await withState(voice, async (state) => {
          await flowLm.promptTokens(ids, state)
          return state.snapshot()
        })
        const pieces = await withState(voice, async (state) => {
          let from = 0
          for (const size of [...sizes, ids.length]) {
            await flowLm.promptTokens(ids.slice(from, from + size), state)
            from += size
          }
          return state.snapshot()
        })
        expect(pieces.positions).toBe(whole.positions)
        const positions = range(voice.positions, whole.positions)
        for (const layer of range(0, whole.layers.length)) {
          expect(
            relativeL2(cacheRows(pieces, layer, positions), cacheRows(whole, layer, positions)),
          ).toBeLessThan(rounding)
        }
      }),
      { numRuns: 10 },
    )
  })

  it('a prompt longer than a block of 512 rows goes on where the block ends', async () => {
    const { dModel } = flowLm.config
    const count = 514
    const seen = 508
    const rows = Float32Array.from({ length: count * dModel }, (_, i) => Math.sin(7.13 * (i + 1)))
    const state = flowLm.createState({ capacity: count })
    await flowLm.promptRows(rows, count, state)
    expect((await state.tap('hidden')).shape).toEqual([count - 512, dModel])
    const whole = await state.snapshot()
    state.dispose()

    const beginning = {
      ...whole,
      positions: seen,
      layers: whole.layers.map(({ k, v }) => ({
        k: k.slice(0, seen * dModel),
        v: v.slice(0, seen * dModel),
      })),
    }
    const pieces = await withState(beginning, async (own) => {
      await flowLm.promptRows(rows.subarray(seen * dModel), count - seen, own)
      return own.snapshot()
    })
    for (const layer of range(0, whole.layers.length)) {
      const positions = range(seen, count)
      expect(
        relativeL2(cacheRows(pieces, layer, positions), cacheRows(whole, layer, positions)),
      ).toBeLessThan(rounding)
    }
  })

  it('what was seen stays as it was: later input never changes it', async () => {
    await fc.assert(
      fc.asyncProperty(tokens, tokens, async (ids, later) => {
        await withState(voice, async (state) => {
          await flowLm.promptTokens(ids, state)
          const before = await state.snapshot()
          await flowLm.promptTokens(later, state)
          await speak(state, 2)
          const after = await state.snapshot()
          const seen = range(0, before.positions)
          for (const layer of range(0, before.layers.length)) {
            expect(cacheRows(after, layer, seen)).toEqual(cacheRows(before, layer, seen))
          }
        })
      }),
      { numRuns: 5 },
    )
  })

  it('a state that adopts a snapshot goes on bit for bit', async () => {
    await fc.assert(
      fc.asyncProperty(tokens, fc.integer({ min: 1, max: 4 }), async (ids, lsdSteps) => {
        const [snapshot, expected] = await withState(voice, async (state) => {
          await flowLm.promptTokens(ids, state)
          return [await state.snapshot(), await speak(state, 3, lsdSteps)]
        })
        expect(await withState(snapshot, (state) => speak(state, 3, lsdSteps))).toEqual(expected)
      }),
      { numRuns: 8 },
    )
  })

  /** The first positions of the voice, fewer than a block of eight or some blocks and a rest. */
  const firstPositions = (positions: number): KvSnapshot => {
    const length = positions * voice.heads * voice.headDim
    const layers = voice.layers.map(({ k, v }) => ({ k: k.slice(0, length), v: v.slice(0, length) }))
    return { ...voice, positions, layers }
  }

  it('states that share a snapshot go on bit for bit as those that copy it, side by side', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(voice.positions), tokens, tokens, async (positions, ...texts) => {
        const snapshot = firstPositions(positions)
        const utter = (adopt: KvSnapshot | SharedSnapshot, ids: number[]) =>
          withState(adopt, async (state) => {
            await flowLm.promptTokens(ids, state)
            const spoken = await speak(state, 2)
            return { spoken, seen: await state.snapshot() }
          })
        const expected = [await utter(snapshot, texts[0]), await utter(snapshot, texts[1])]
        const shared = flowLm.share(snapshot)
        const speaking = texts.map((ids) => utter(shared, ids))
        // Whoever uses it keeps it.
        shared.dispose()
        expect(await Promise.all(speaking)).toEqual(expected)
        expect(() => flowLm.createState({ adopt: shared })).toThrow(
          expect.objectContaining({ code: 'disposed' }),
        )
      }),
      { numRuns: 8 },
    )
  })

  it('a shared snapshot is a copy: later changes of its arrays are not heard', async () => {
    const mine = copyOf(voice)
    const shared = flowLm.share(mine)
    for (const { k, v } of mine.layers) {
      k.fill(0)
      v.fill(0)
    }
    const expected = await withState(voice, (state) => speak(state, 2))
    expect(await withState(shared, (state) => speak(state, 2))).toEqual(expected)
    shared.dispose()
  })

  it('an executor that shares nothing copies what is to be shared', async () => {
    const executor = kernels()
    const alone = await FlowLm.load(openModel('tiny-2026-04'), {
      ...slowReading(executor),
      kvCache: (options) => Object.assign(executor.kvCache(options), { continued: undefined }),
    })
    const mine = copyOf(voice)
    const shared = alone.share(mine)
    for (const { k } of mine.layers) k.fill(0)
    const first = alone.createState({ adopt: shared })
    shared.dispose()
    expect(await first.snapshot()).toEqual(voice)
    first.dispose()
    expect(() => alone.createState({ adopt: shared })).toThrow(expect.objectContaining({ code: 'disposed' }))
  })

  it('a snapshot is not changed by those who adopt it', async () => {
    const adopted = copyOf(voice)
    await withState(adopted, async (state) => {
      await flowLm.promptTokens([1, 2, 3], state)
      await speak(state, 2)
    })
    expect(adopted).toEqual(voice)
  })

  it('a snapshot shows the moment it was asked for, whatever runs before it arrives', async () => {
    await withState(voice, async (state) => {
      const pending = state.snapshot()
      await flowLm.promptTokens([5, 6, 7], state)
      expect(await pending).toEqual(voice)
    })
  })

  it('what a prompt leaves out is computed when it is read, of the moment it was asked for, and changes nothing', async () => {
    const ids = [417, 799, 381]
    const promptInTwo = async (state: FlowState): Promise<void> => {
      await flowLm.promptTokens(ids.slice(0, 2), state)
      await flowLm.promptTokens(ids.slice(2), state)
    }
    const unread = await withState(voice, async (state) => {
      await promptInTwo(state)
      return speak(state, 2)
    })
    await withState(voice, async (state) => {
      await promptInTwo(state)
      const hidden = state.tap('hidden')
      const last = state.tap('layer.2')
      expect(await speak(state, 2)).toEqual(unread)
      const whole = await withState(voice, async (other) => {
        await flowLm.promptTokens(ids, other)
        return { hidden: await other.tap('hidden'), last: await other.tap('layer.2') }
      })
      const { dModel } = flowLm.config
      expect(relativeL2((await hidden).data, whole.hidden.data.subarray(2 * dModel))).toBeLessThan(rounding)
      expect(relativeL2((await last).data, whole.last.data.subarray(2 * dModel))).toBeLessThan(rounding)
    })
  })

  it('interleaved states do not touch each other', async () => {
    const utterances = [
      { ids: [417, 799, 381], lsdSteps: 1 },
      { ids: [9], lsdSteps: 1 },
      { ids: [728, 315, 269, 278, 276], lsdSteps: 2 },
    ]
    const utter = ({ ids, lsdSteps }: { ids: number[]; lsdSteps: number }): Promise<number[]> =>
      withState(voice, async (state) => {
        await flowLm.promptTokens(ids, state)
        return speak(state, 6, lsdSteps)
      })
    const alone: number[][] = []
    for (const utterance of utterances) alone.push(await utter(utterance))
    expect(await Promise.all(utterances.map(utter))).toEqual(alone)
  })

  it('overlapping samplings do not touch each other, more step counts than plans are kept included', async () => {
    const hidden = (seed: number): Float32Array =>
      Float32Array.from({ length: 128 }, (_, i) => Math.sin(seed + i))
    const calls = [1, 2, 1, 3, 4, 5, 6, 1, 2].map((steps, i) => ({
      steps,
      hidden: hidden(i),
      noise: noise(i),
    }))
    const sample = (call: (typeof calls)[number]): Promise<Float32Array> =>
      flowLm.sampleLatent(call.hidden, call.noise, call.steps)
    const alone: Float32Array[] = []
    for (const call of calls) alone.push(await sample(call))
    expect(await Promise.all(calls.map(sample))).toEqual(alone)
  })

  it('calls on one state take effect in the order they are made, awaited or not', async () => {
    const first = noise(1)
    const awaited = await withState(voice, async (state) => {
      await flowLm.promptTokens([3, 4], state)
      const begin = await flowLm.step(null, state)
      return [begin, await flowLm.step(first, state)]
    })
    const together = await withState(voice, async (state) => {
      const [, ...steps] = await Promise.all([
        flowLm.promptTokens([3, 4], state),
        flowLm.step(null, state),
        flowLm.step(first, state),
      ])
      return steps
    })
    expect(together).toEqual(awaited)
  })

  it('a state that no memory can hold is refused by the executor, and the next one works', async () => {
    const reserve = (): FlowState => flowLm.createState({ capacity: 2 ** 40 })
    expect(reserve).toThrow(expect.objectContaining({ name: 'KernelError', code: 'out-of-memory' }))
    await withState(voice, (state) => speak(state, 1))
  })

  it('a snapshot of nothing is a fresh start', async () => {
    const fresh = flowLm.createState()
    const nothing = await fresh.snapshot()
    await flowLm.promptTokens([], fresh)
    expect(fresh.position).toBe(0)
    const expected = await speak(fresh, 2)
    fresh.dispose()
    expect(await withState(nothing, (state) => speak(state, 2))).toEqual(expected)
  })

  it('as many LSD steps as are allowed end in a finite latent', async () => {
    const latent = await flowLm.sampleLatent(new Float32Array(128).fill(0.1), noise(0), 1000)
    expect(latent.every(Number.isFinite)).toBe(true)
  })

  it('the beginning of speech is the latent bos_emb', async () => {
    const bos = openModel('tiny-2026-04').f32('flow_lm.bos_emb').data
    const fromNull = await withState(voice, (state) => flowLm.step(null, state))
    expect(fromNull).toEqual(await withState(voice, (state) => flowLm.step(bos, state)))
  })
})
