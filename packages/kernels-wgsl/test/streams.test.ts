import { createGpuKernels, type GpuKernels, type GpuStream } from '@pocket/kernels-wgsl'
import { KernelError, record } from '@pocket/nn'
import { describeOnGpu, gpuVariants } from '@tooling/fixtures/gpu'
import { expect, it } from 'vitest'
import { noise, stored } from './scaled-weights.ts'

/**
 * A small network with every kind of state: its latent goes round, noise comes in, sound goes out. Sizes are odd, so
 * that lanes are padded.
 */

const width = 24
const latentDim = 6

const weightsOn = (kernels: GpuKernels) => ({
  input: kernels.matrix({ weight: stored([width, latentDim], 1) }),
  qkv: kernels.matrix({ weight: stored([3 * width, width], 2) }),
  output: kernels.matrix({ weight: stored([latentDim, width], 3) }),
  up: kernels.transposedConvolution({ weight: stored([latentDim, 5, 4], 4), stride: 2 }),
  convolution: kernels.convolution({ weight: stored([3, 5, 3], 5) }),
})

const open = (kernels: GpuKernels, weights: ReturnType<typeof weightsOn>) => {
  const cache = kernels.kvCache({ heads: 2, headDim: width / 2, capacity: 40, maxPeriod: 10000 })
  const [upState, convolutionState] = [
    kernels.convolutionState(weights.up),
    kernels.convolutionState(weights.convolution),
  ]
  const recording = record('small frame', (ops) => {
    const embedded = ops.linear(ops.input('latent', 1, latentDim), weights.input)
    const attended = ops.attention(ops.linear(ops.layerNorm(embedded, { eps: 1e-5 }), weights.qkv), cache)
    const next = ops.tap(
      'next',
      ops.linear(attended, weights.output, { residual: ops.input('noise', 1, latentDim) }),
    )
    const wide = ops.transposedConvolution(next, weights.up, upState)
    ops.tap('pcm', ops.convolution(wide, weights.convolution, convolutionState, { inputActivation: 'elu' }))
  })
  const stream = kernels.stream(recording, {
    feedback: { latent: 'next' },
    inputs: ['noise'],
    outputs: ['next', 'pcm'],
  })
  return { cache, states: [upState, convolutionState], recording, stream }
}

const frames = 24

/** Everything that `frames` frames give, `perSubmit` a submission, all submitted before the first is read. */
const all = async (stream: GpuStream, perSubmit: number): Promise<number[]> => {
  stream.write('latent', noise(latentDim, 5))
  const submissions: ReturnType<GpuStream['submit']>[] = []
  for (let first = 0; first < frames; first += perSubmit) {
    const runs = Array.from({ length: Math.min(perSubmit, frames - first) }, (_, index) => ({
      noise: noise(latentDim, 100 + first + index),
    }))
    submissions.push(stream.submit(runs))
  }
  return (await Promise.all(submissions)).flat().flatMap(({ next, pcm }) => [...(next ?? []), ...(pcm ?? [])])
}

await describeOnGpu('streams', createGpuKernels, (kernels) => {
  it('give the same bits for any number of runs a submission, and those of a plan', async () => {
    const weights = weightsOn(kernels())
    const [one, three, eight] = [
      await all(open(kernels(), weights).stream, 1),
      await all(open(kernels(), weights).stream, 3),
      await all(open(kernels(), weights).stream, 8),
    ]
    expect(three).toEqual(one)
    expect(eight).toEqual(one)
    expect(one.every(Number.isFinite)).toBe(true)

    const plan = kernels().plan(open(kernels(), weights).recording)
    let latent = noise(latentDim, 5)
    const planned: number[] = []
    for (let frame = 0; frame < frames; frame++) {
      plan.write('latent', latent)
      plan.write('noise', noise(latentDim, 100 + frame))
      plan.run()
      latent = (await plan.read('next')).data
      planned.push(...latent, ...(await plan.read('pcm')).data)
    }
    expect(planned).toEqual(one)
  })

  it('refuse what cannot be, before anything has run', async () => {
    const { stream, cache, recording } = open(kernels(), weightsOn(kernels()))
    const row = { noise: noise(latentDim, 1) }
    const refused = async (work: () => Promise<unknown>, code: string) =>
      expect(work()).rejects.toMatchObject({ code })
    await refused(() => stream.submit(Array.from({ length: 41 }, () => row)), 'capacity')
    await refused(() => stream.submit([{ noise: new Float32Array(5) }]), 'shape')
    await refused(() => stream.submit([{ ...row, latent: noise(latentDim, 2) }]), 'unknown-name')
    expect(cache.position).toBe(0)
    expect(() => stream.write('pcm', noise(12, 1))).toThrow(KernelError)
    const options = { inputs: [], outputs: [] }
    expect(() => kernels().stream(recording, { ...options, feedback: { latent: 'pcm' } })).toThrow(/latent/)
    expect(() => kernels().stream(recording, { ...options, inputs: ['pcm'] })).toThrow(/no input pcm/)
    stream.dispose()
    await refused(() => stream.submit([row]), 'disposed')
  })

  it('leave nothing behind', async () => {
    const weights = weightsOn(kernels())
    const once = async (): Promise<void> => {
      const { stream, cache, states } = open(kernels(), weights)
      await stream.submit([{ noise: noise(latentDim, 1) }])
      stream.dispose()
      for (const state of [cache, ...states]) state.dispose()
    }
    await once()
    const before = kernels().bytes
    for (let utterance = 0; utterance < 500; utterance++) await once()
    expect(kernels().bytes).toBe(before)
  })
})

const lanes = 3

await describeOnGpu(
  'lanes',
  (variant) => createGpuKernels({ ...variant, lanes }),
  (kernels) => {
    const inLanes = (of: (lane: number) => Float32Array): Float32Array => {
      const parts = Array.from({ length: lanes }, (_, lane) => of(lane))
      const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
      parts.forEach((part, lane) => {
        joined.set(part, lane * part.length)
      })
      return joined
    }
    const laneOf = (values: Float32Array | undefined, lane: number): number[] => {
      const length = (values?.length ?? 0) / lanes
      return [...(values?.subarray(lane * length, (lane + 1) * length) ?? [])]
    }

    /**
     * One utterance in `lane` of a stream whose other lanes do what `neighbours` says, from run `joins` on. `rests` says
     * in which runs it takes no part.
     */
    const utterance = async (
      lane: number,
      joins: number,
      neighbours: boolean,
      rests: (run: number) => boolean = () => false,
    ): Promise<number[]> => {
      const { stream, cache, states } = open(kernels(), weightsOn(kernels()))
      const begin = (one: number, seed: number): void => {
        stream.write('latent', noise(latentDim, seed), one)
        const [k, v] = [noise(7 * width, seed), noise(7 * width, seed + 1)]
        cache.lane(one).load(k, v, 7)
        for (const state of states) state.lane(one).reset()
      }
      const heard: number[] = []
      let frames = 0
      for (let run = 0; frames < 9; run++) {
        if (run === joins) begin(lane, 5)
        else if (neighbours && run % 4 === 1) begin((lane + 1) % lanes, run)
        const takesPart = run >= joins && !rests(run)
        const active = Array.from({ length: lanes }, (_, one) =>
          one === lane ? takesPart : neighbours && (run + one) % 3 > 0,
        )
        const values = inLanes((one) => noise(latentDim, one === lane ? 100 + frames : run * one))
        const [outputs] = await stream.submit([{ noise: values }], { active })
        if (!takesPart) continue
        heard.push(...laneOf(outputs?.next, lane), ...laneOf(outputs?.pcm, lane))
        frames++
      }
      return heard
    }

    it('give the same bits whatever their neighbours do, and whenever they join', async () => {
      const alone = await utterance(0, 0, false)
      expect(alone.every(Number.isFinite)).toBe(true)
      expect(await utterance(0, 0, true)).toEqual(alone)
      expect(await utterance(1, 4, true)).toEqual(alone)
      expect(await utterance(2, 5, true)).toEqual(alone)
      expect(await utterance(1, 2, true, (run) => run % 3 === 2)).toEqual(alone)
    })

    it('keep their states while they rest', async () => {
      const { stream, cache, states } = open(kernels(), weightsOn(kernels()))
      stream.write(
        'latent',
        inLanes((lane) => noise(latentDim, lane)),
      )
      const row = { noise: inLanes((lane) => noise(latentDim, 10 + lane)) }
      await stream.submit([row])
      const before = await cache.lane(1).read()
      await stream.submit([row, row], { active: [true, false, true] })
      expect(await cache.lane(1).read()).toEqual(before)
      expect([0, 1, 2].map((lane) => cache.lane(lane).position)).toEqual([3, 1, 3])
      expect(states.map((state) => state.lanes)).toEqual([lanes, lanes])
      expect(() => cache.load(new Float32Array(), new Float32Array(), 0)).toThrow(/lane/)
    })

    it('take the prompt of one while the others wait', async () => {
      const { cache } = open(kernels(), weightsOn(kernels()))
      const recording = record('prompt', (ops) => {
        ops.tap('y', ops.attention(ops.input('qkv', 5, 3 * width), cache))
      })
      const results = new Map<number, Float32Array>()
      for (const lane of [2, 0]) {
        const plan = kernels().plan(recording, { lane })
        plan.write('qkv', noise(15 * width, 3))
        plan.run()
        results.set(lane, (await plan.read('y')).data)
      }
      expect([0, 1, 2].map((lane) => cache.lane(lane).position)).toEqual([5, 0, 5])
      expect(results.get(0)).toEqual(results.get(2))
      expect(await cache.lane(0).read()).toEqual(await cache.lane(2).read())
    })

    it('run the plan of one lane in any', async () => {
      const { cache } = open(kernels(), weightsOn(kernels()))
      const recording = record('prompt', (ops) => {
        ops.tap('y', ops.attention(ops.input('qkv', 5, 3 * width), cache))
      })
      const plan = kernels().plan(recording, { lane: 0 })
      plan.write('qkv', noise(15 * width, 3))
      plan.run({ lane: 2 })
      plan.run({ lane: 1 })
      plan.run({ lane: 1 })
      const results = (await plan.read('y')).data
      expect([0, 1, 2].map((lane) => cache.lane(lane).position)).toEqual([0, 10, 5])
      const [once, twice] = [await cache.lane(2).read(), await cache.lane(1).read()]
      expect(twice.k.subarray(0, once.k.length)).toEqual(once.k)
      const own = kernels().plan(recording, { lane: 2 })
      own.write('qkv', noise(15 * width, 3))
      own.run()
      expect((await own.read('y')).data).toEqual(results)
      expect(() => plan.run({ lane: lanes })).toThrow(/lane 3/)
      expect(() => kernels().plan(recording).run({ lane: 0 })).toThrow(/for 3 of 3 lanes/)
    })

    it('adopt what another cache holds, go back in it, and leave the other lanes alone', async () => {
      const shape = { heads: 2, headDim: width / 2, maxPeriod: 10000 }
      const voice = kernels()
        .withLanes(1)
        .kvCache({ ...shape, capacity: 7 })
      const [k, v] = [noise(7 * width, 1), noise(7 * width, 2)]
      voice.load(k, v, 7)
      const cache = kernels().kvCache({ ...shape, capacity: 40 })
      const others = [noise(3 * width, 3), noise(3 * width, 4)] as const
      for (const lane of [0, 2]) cache.lane(lane).load(...others, 3)
      cache.lane(1).adopt(voice)
      const continued = voice.continued!(9)
      // What was copied is there, whatever becomes of the source.
      voice.dispose()
      expect(await cache.lane(1).read()).toEqual({ k, v })
      expect(await continued.read()).toEqual({ k, v })
      for (const lane of [0, 2]) {
        expect(await cache.lane(lane).read()).toEqual({ k: others[0], v: others[1] })
      }
      cache.lane(1).rewind(4)
      expect(await cache.lane(1).read()).toEqual({ k: k.slice(0, 4 * width), v: v.slice(0, 4 * width) })
      expect([0, 1, 2].map((lane) => cache.lane(lane).position)).toEqual([3, 4, 3])
      continued.rewind!(6)
      continued.reset()
      expect(continued.position).toBe(7)
    })

    it('refuse what they cannot adopt, and to go where they have not been', () => {
      const shape = { heads: 2, headDim: width / 2, maxPeriod: 10000 }
      const alone = kernels().withLanes(1)
      const lane = kernels()
        .kvCache({ ...shape, capacity: 4 })
        .lane(1)
      const voice = alone.kvCache({ ...shape, capacity: 9 })
      voice.load(noise(5 * width, 1), noise(5 * width, 2), 5)
      const refused = (code: string) => expect.objectContaining({ code })
      expect(() => lane.adopt(voice)).toThrow(refused('capacity'))
      expect(() => lane.adopt(alone.kvCache({ ...shape, heads: 3, capacity: 4 }))).toThrow(refused('shape'))
      expect(() => lane.adopt(kernels().kvCache({ ...shape, capacity: 4 }))).toThrow(refused('unavailable'))
      expect(() => lane.adopt(alone.kvCache({ ...shape, capacity: 4, window: 4 }))).toThrow(
        refused('unavailable'),
      )
      expect(() => lane.rewind(1)).toThrow(refused('shape'))
      voice.dispose()
      expect(() => lane.adopt(voice)).toThrow(refused('disposed'))
    })
  },
  gpuVariants.slice(0, 1),
)
