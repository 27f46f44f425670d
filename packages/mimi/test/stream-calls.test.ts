import { createCpuKernels } from '@pocket/kernels-cpu'
import { KernelError, type Kernels } from '@pocket/nn'
import { describe, expect, test } from 'vitest'
import { tinyCodec, wave } from './checkpoints.ts'

const codec = await tinyCodec('tiny-24l', await createCpuKernels({ simd: 'scalar' }))
const latents = Float32Array.from({ length: 128 }, (_, i) => Math.sin(i))
const frame = (index: number) => latents.subarray(index * 32, (index + 1) * 32)
const whole = await codec.createDecoder().decode(latents)

describe('calls that do not wait for one another', () => {
  test('run in the order they were made', async () => {
    const decoder = codec.createDecoder()
    const parts = await Promise.all([
      decoder.decode(frame(0)),
      decoder.decode(latents.subarray(32, 96)),
      decoder.decode(frame(3)),
    ])
    expect(parts.flatMap((part) => [...part])).toEqual([...whole])
  })

  test('keep the input as it was when they were made', async () => {
    const decoder = codec.createDecoder()
    const input = frame(0).slice()
    const first = decoder.decode(input)
    input.set(frame(1))
    const second = decoder.decode(input)
    input.fill(Number.NaN)
    expect([...(await first), ...(await second)]).toEqual([...whole.subarray(0, 2 * 1920)])
  })

  test('see a reset, and a tap, where they stand among them', async () => {
    const decoder = codec.createDecoder()
    const first = decoder.decode(frame(0))
    const tap = decoder.tap('latent')
    decoder.reset()
    const again = decoder.decode(frame(0))
    await decoder.decode(frame(1))
    expect((await tap).data).toEqual(frame(0))
    expect(await again).toEqual(await first)
  })

  test('encode the recording in its order', async () => {
    const samples = wave().subarray(0, 4500)
    const encoder = codec.createEncoder()
    const parts = await Promise.all([
      encoder.encode(samples.subarray(0, 3000)),
      encoder.encode(samples.subarray(3000)),
      encoder.flush(),
    ])
    expect(parts.map(({ shape }) => shape)).toEqual([
      [1, 32],
      [1, 32],
      [1, 32],
    ])
    expect(parts.flatMap(({ data }) => [...data])).toEqual([...(await codec.encode(samples)).data])
  })
})

describe('a frame that was begun', async () => {
  const threaded = await tinyCodec('tiny-24l', await createCpuKernels({ simd: 'simd', threads: 2 }))
  const single = await tinyCodec('tiny-24l', await createCpuKernels({ simd: 'simd', threads: 1 }))
  const whole = await single.createDecoder().decode(latents)
  const expected = (index: number) => whole.subarray(index * 1920, (index + 1) * 1920)

  test.each([
    ['one thread', single],
    ['two threads', threaded],
  ])('is what decode gives, whenever it is ended, on %s', async (_, codec) => {
    const decoder = codec.createDecoder()
    const input = frame(0).slice()
    const beginning = decoder.begin(input)
    input.fill(Number.NaN)
    const first = await beginning
    const second = await decoder.begin(frame(1))
    const third = decoder.decode(frame(2))
    const fourth = await decoder.begin(frame(3))
    for (const [index, samples] of [first(), second(), third, fourth(), first()].entries()) {
      expect(await samples).toEqual(expected(index % 4))
    }
    decoder.reset()
    expect(await (await decoder.begin(frame(0)))()).toEqual(expected(0))
    decoder.dispose()
  })

  test('is refused like any other, and ended before its decoder is', async () => {
    const decoder = threaded.createDecoder()
    await expect(decoder.begin(latents)).rejects.toMatchObject({ code: 'invalid-input' })
    const [ended, open] = [await decoder.begin(frame(0)), await decoder.begin(frame(1))]
    decoder.dispose()
    expect(await ended()).toEqual(expected(0))
    await expect(open()).rejects.toMatchObject({ name: 'MimiError', code: 'disposed' })
    await expect(decoder.begin(frame(2))).rejects.toMatchObject({ code: 'disposed' })
  })
})

describe('an abort', () => {
  test('already made lets nothing run', async () => {
    const decoder = codec.createDecoder()
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(decoder.decode(latents, 4, { signal })).rejects.toThrow('enough')
    expect(await decoder.decode(latents)).toEqual(whole)
  })

  test('stops a long run between frames, and the stream goes on after a reset', async () => {
    const decoder = codec.createDecoder()
    const long = new Float32Array(32 * 2000)
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 1)
    await expect(decoder.decode(long, 2000, { signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    })
    decoder.reset()
    expect(await decoder.decode(latents)).toEqual(whole)
  })

  test('stops the encoding of a recording', async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 1)
    await expect(
      codec.encode(new Float32Array(1920 * 2000), { signal: controller.signal }),
    ).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('after dispose', () => {
  test('everything is refused but another dispose', async () => {
    const decoder = codec.createDecoder()
    const encoder = codec.createEncoder()
    for (const stream of [decoder, encoder]) {
      stream.dispose()
      stream.dispose()
      expect(() => stream.reset()).toThrow(/disposed/)
      await expect(stream.tap('transformer')).rejects.toMatchObject({ name: 'MimiError', code: 'disposed' })
    }
    await expect(decoder.decode(latents)).rejects.toMatchObject({ code: 'disposed' })
    await expect(encoder.encode(new Float32Array(1))).rejects.toMatchObject({ code: 'disposed' })
    await expect(encoder.flush()).rejects.toMatchObject({ code: 'disposed' })
  })

  test('calls that still wait are refused, and other streams go on', async () => {
    const decoder = codec.createDecoder()
    const other = codec.createDecoder()
    const waiting = decoder.decode(latents)
    const outcome = expect(waiting).rejects.toMatchObject({ code: 'disposed' })
    decoder.dispose()
    await outcome
    expect(await other.decode(latents)).toEqual(whole)
  })
})

describe('memory', () => {
  /** An executor that counts the states and plans that nobody has given back. */
  const countingKernels = async (planFails: () => boolean) => {
    const live = new Set<object>()
    const counted = <T extends { dispose(): void }>(made: T): T => {
      live.add(made)
      const dispose = made.dispose.bind(made)
      made.dispose = () => {
        live.delete(made)
        dispose()
      }
      return made
    }
    const kernels: Kernels = await createCpuKernels({ simd: 'scalar' })
    const counting: Kernels = {
      name: kernels.name,
      vector: (values) => kernels.vector(values),
      matrix: (source) => kernels.matrix(source),
      convolution: (source) => kernels.convolution(source),
      transposedConvolution: (source) => kernels.transposedConvolution(source),
      convolutionState: (weights) => counted(kernels.convolutionState(weights)),
      kvCache: (options) => counted(kernels.kvCache(options)),
      plan: (recording) => {
        if (planFails()) throw new KernelError('out-of-memory', 'no memory for a plan')
        return counted(kernels.plan(recording))
      },
      dispose: () => kernels.dispose(),
    }
    return { live, counting }
  }

  test('of a stream is given back, whatever becomes of it', async () => {
    let planFails = false
    const { live, counting } = await countingKernels(() => planFails)
    const codec = await tinyCodec('tiny-24l', counting)
    expect(live.size).toBe(0)

    const decoder = codec.createDecoder()
    const tookStates = live.size
    await decoder.decode(latents)
    expect(live.size).toBe(tookStates)
    decoder.dispose()
    await expect(decoder.decode(latents)).rejects.toThrow()
    expect(live.size).toBe(0)

    await codec.encode(wave().subarray(0, 2000))
    await expect(codec.encode(wave().subarray(0, 10), { taps: ['no'] })).rejects.toThrow()
    const { signal } = new AbortController()
    await codec.encode(wave().subarray(0, 10), { signal })
    await expect(codec.encode(wave(), { signal: AbortSignal.abort() })).rejects.toThrow()
    planFails = true
    expect(() => codec.createDecoder()).toThrow(KernelError)
    await new Promise((resolve) => setTimeout(resolve))
    expect(live.size).toBe(0)
  })
})
