import { createContext, runInContext } from 'node:vm'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { describe, expect, test } from 'vitest'
import { tinyCodec, wave } from './checkpoints.ts'

const codec = await tinyCodec('tiny-24l', await createCpuKernels({ simd: 'scalar' }))
const latents = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i))
const samples = wave().subarray(0, 3000)
const withValue = (values: Float32Array, index: number, value: number) => {
  const changed = values.slice()
  changed[index] = value
  return changed
}

describe('latents', () => {
  test.for<[string, unknown, number | undefined, RegExp]>([
    [
      'no whole frames',
      latents.subarray(0, 33),
      undefined,
      /latents has 33 values, expected a multiple of 32/,
    ],
    ['other than said', latents, 3, /latents has 2 frames of 32 values, expected 3/],
    ['said in fractions', latents, 1.5, /expected 1.5/],
    ['NaN', withValue(latents, 40, Number.NaN), 2, /value 40 of latents is NaN/],
    [
      'infinite',
      withValue(latents, 3, Number.NEGATIVE_INFINITY),
      undefined,
      /value 3 of latents is -Infinity/,
    ],
    ['float64', new Float64Array(32), undefined, /latents is of type Float64Array, expected a Float32Array/],
    ['a list', [1, 2, 3], undefined, /latents is of type Array/],
    ['nothing', undefined, undefined, /latents is of type Undefined/],
  ])('%s are refused, and leave the stream as it was', async ([, wrong, frames, message]) => {
    const decoder = codec.createDecoder()
    const first = await decoder.decode(latents.subarray(0, 32))
    const refused = decoder.decode(wrong as Float32Array, frames)
    await expect(refused).rejects.toMatchObject({ name: 'MimiError', code: 'invalid-input' })
    await expect(refused).rejects.toThrow(message)
    const second = await decoder.decode(latents.subarray(32), 1)
    expect([...first, ...second]).toEqual([...(await codec.createDecoder().decode(latents))])
  })

  test('of no frames are no samples', async () => {
    expect(await codec.createDecoder().decode(new Float32Array(0), 0)).toEqual(new Float32Array(0))
  })

  test('of another realm are as good', async () => {
    const foreign = runInContext('new Float32Array(32)', createContext()) as Float32Array
    expect(foreign).not.toBeInstanceOf(Float32Array)
    expect(await codec.createDecoder().decode(foreign)).toHaveLength(1920)
  })
})

describe('samples', () => {
  test.for<[string, unknown, RegExp]>([
    ['NaN', withValue(samples, 2999, Number.NaN), /sample 2999 of pcm is NaN/],
    ['infinite', withValue(samples, 0, Number.POSITIVE_INFINITY), /sample 0 of pcm is Infinity/],
    ['integers', new Int16Array(1920), /pcm is of type Int16Array, expected a Float32Array/],
    ['nothing', null, /pcm is of type Null/],
  ])('%s are refused, whole or streamed, and leave the stream as it was', async ([, wrong, message]) => {
    const encoder = codec.createEncoder()
    await encoder.encode(samples.subarray(0, 1000))
    for (const refused of [codec.encode(wrong as Float32Array), encoder.encode(wrong as Float32Array)]) {
      await expect(refused).rejects.toMatchObject({ name: 'MimiError', code: 'invalid-input' })
      await expect(refused).rejects.toThrow(message)
    }
    const { data } = await encoder.encode(samples.subarray(1000, 1920))
    expect(data).toEqual((await codec.encode(samples.subarray(0, 1920))).data)
  })

  test('of an empty recording are refused', async () => {
    await expect(codec.encode(new Float32Array(0))).rejects.toMatchObject({ code: 'empty-input' })
  })

  test('may come in empty pieces, and end with none waiting', async () => {
    const encoder = codec.createEncoder()
    expect(await encoder.encode(new Float32Array(0))).toMatchObject({ shape: [0, 32] })
    expect(await encoder.flush()).toMatchObject({ shape: [0, 32] })
    expect(await encoder.encode(samples.subarray(0, 1920))).toMatchObject({ shape: [1, 32] })
    expect(await encoder.flush()).toMatchObject({ shape: [0, 32] })
  })
})

describe('taps', () => {
  test('that do not exist are refused by a list of those that do', async () => {
    const decoder = codec.createDecoder()
    await expect(decoder.tap('model.1')).rejects.toMatchObject({ code: 'unknown-tap' })
    await expect(decoder.tap('model.1')).rejects.toThrow(
      /latent, quantizer, upsample, transformer, model.0, model.2, model.3,.*model.11, pcm/,
    )
    await expect(codec.encode(samples, { taps: ['encoder', 'hidden'] })).rejects.toThrow(
      /no tap hidden; it has pcm, model.0, model.1,.*model.11, encoder, transformer, latent/,
    )
    await expect(codec.encode(samples, { taps: ['__proto__'] })).rejects.toMatchObject({
      code: 'unknown-tap',
    })
  })

  test('have no value before the first frame', async () => {
    const encoder = codec.createEncoder()
    await encoder.encode(samples.subarray(0, 1919))
    await expect(encoder.tap('encoder')).rejects.toMatchObject({ code: 'no-frame' })
    await encoder.flush()
    expect(await encoder.tap('encoder')).toMatchObject({ shape: [64, 16] })
  })

  test('of input and output are those', async () => {
    const decoder = codec.createDecoder()
    const pcm = await decoder.decode(latents)
    expect(await decoder.tap('pcm')).toMatchObject({ shape: [1, 1920], data: pcm.subarray(1920) })
    expect(await decoder.tap('latent')).toMatchObject({ shape: [32, 1], data: latents.subarray(32) })
    const { data, taps } = await codec.encode(samples.subarray(0, 1920), { taps: ['latent', 'latent'] })
    expect(taps).toMatchObject({ latent: { shape: [32, 1], data } })
  })
})
