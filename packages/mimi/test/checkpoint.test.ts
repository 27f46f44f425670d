import { createCpuKernels } from '@pocket/kernels-cpu'
import { MimiCodec, type MimiConfig, MimiError } from '@pocket/mimi'
import type { WeightReader } from '@pocket/nn'
import { openBlob, SafeTensors } from '@pocket/safetensors'
import { readFixture } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  editedWeights,
  reshape,
  type TinyModel,
  tinyCodec,
  tinyModels,
  tinyWeights,
  wave,
} from './checkpoints.ts'

const kernels = await createCpuKernels({ simd: 'scalar' })
const latents = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i))

const refusal = async (weights: WeightReader, stated?: Partial<MimiConfig>): Promise<MimiError> => {
  const error: unknown = await MimiCodec.load(weights, kernels, stated).catch((error: unknown) => error)
  if (error instanceof MimiError) return error
  throw new Error('expected a MimiError', { cause: error })
}

const codecTensors = tinyWeights('tiny-24l')
  .names()
  .filter((name) => name.startsWith('mimi.'))

describe('the configuration', () => {
  const tiny: MimiConfig = {
    sampleRate: 24000,
    frameSize: 1920,
    frameRate: 12.5,
    latentDim: 32,
    innerDim: 32,
    dModel: 64,
    layers: 2,
    heads: 8,
    context: 250,
    maxPeriod: 10000,
    ratios: [6, 5, 4],
    resampleStride: 16,
  }
  const expected: Record<TinyModel, MimiConfig> = {
    'tiny-2026-04': tiny,
    'tiny-2026-01': { ...tiny, innerDim: 64 },
    'tiny-24l': tiny,
  }

  test.for(tinyModels)('of %s comes from the shapes', async (model) => {
    expect((await tinyCodec(model, kernels)).config).toEqual(expected[model])
  })

  test('takes what the shapes do not say from what is stated, and checks the rest', async () => {
    const stated = {
      heads: 4,
      context: 20,
      maxPeriod: 5000.5,
      frameRate: 12.5,
      ratios: [6, 5, 4],
      innerDim: 32,
    }
    const { config } = await MimiCodec.load(tinyWeights('tiny-24l'), kernels, stated)
    expect(config).toEqual({ ...tiny, ...stated })
  })

  test('with a smaller context forgets sooner', async () => {
    const whole = await tinyCodec('tiny-24l', kernels)
    const short = await MimiCodec.load(tinyWeights('tiny-24l'), kernels, { context: 16 })
    const [a, b] = await Promise.all([whole, short].map((codec) => codec.createDecoder().decode(latents)))
    expect(a?.[0]).toBe(b?.[0])
    expect(a).not.toEqual(b)
  })

  test.for<[Partial<MimiConfig>, string, RegExp]>([
    [{ latentDim: 64 }, 'contradiction', /latentDim 64, the tensors say 32/],
    [{ innerDim: 64 }, 'contradiction', /innerDim 64/],
    [{ ratios: [8, 5, 4] }, 'contradiction', /ratios 8,5,4, the tensors say 6,5,4/],
    [{ frameRate: 25 }, 'contradiction', /frameRate 25, the tensors say 12.5/],
    [{ layers: 8 }, 'contradiction', /layers 8/],
    [{ heads: 7 }, 'contradiction', /7 heads .* width of 64/],
    [{ heads: 64 }, 'contradiction', /64 heads/],
    [{ heads: 0 }, 'invalid-config', /heads is 0/],
    [{ context: 2.5 }, 'invalid-config', /context is 2.5/],
    [{ context: 1e12 }, 'invalid-config', /context is 1000000000000/],
    [{ maxPeriod: Number.NaN }, 'invalid-config', /maxPeriod is NaN/],
    [{ sampleRate: -1 }, 'invalid-config', /sampleRate is -1/],
    [{ window: 250 } as Partial<MimiConfig>, 'invalid-config', /no setting window/],
  ])('%o is refused: %s', async ([stated, code, message]) => {
    const error = await refusal(tinyWeights('tiny-24l'), stated)
    expect(error).toMatchObject({ name: 'MimiError', code })
    expect(error.message).toMatch(message)
  })
})

describe('a checkpoint', () => {
  test('may hold Mimi alone, under names without the prefix', async () => {
    const bare = editedWeights('tiny-24l', (tensors) => {
      for (const [name, tensor] of [...tensors]) {
        tensors.delete(name)
        if (name.startsWith('mimi.')) tensors.set(name.slice('mimi.'.length), tensor)
      }
    })
    const [alone, combined] = await Promise.all([
      MimiCodec.load(bare, kernels),
      tinyCodec('tiny-24l', kernels),
    ])
    expect(await alone.createDecoder().decode(latents)).toEqual(
      await combined.createDecoder().decode(latents),
    )
    expect(alone.canEncode).toBe(true)
  })

  test('may be read tensor by tensor', async () => {
    const bytes = readFixture('tiny/tiny-24l/model.safetensors')
    const reader = await openBlob(new Blob([bytes.slice()]))
    const [streamed, whole] = await Promise.all([
      MimiCodec.load(reader, kernels),
      MimiCodec.load(SafeTensors.fromBytes(bytes), kernels),
    ])
    expect(await streamed.createDecoder().decode(latents)).toEqual(
      await whole.createDecoder().decode(latents),
    )
  })

  test('may hold float32 or float64 in place of bfloat16', async () => {
    const bf16 = await tinyCodec('tiny-24l', kernels)
    for (const dtype of ['F32', 'F64'] as const) {
      const source = tinyWeights('tiny-24l')
      const widened = editedWeights('tiny-24l', (tensors) => {
        for (const [name, tensor] of tensors) {
          const { data } = source.f32(name)
          const values = dtype === 'F32' ? data : Float64Array.from(data)
          tensors.set(name, {
            ...tensor,
            dtype,
            bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
          })
        }
      })
      const codec = await MimiCodec.load(widened, kernels)
      expect(await codec.createDecoder().decode(latents)).toEqual(await bf16.createDecoder().decode(latents))
    }
  })

  test.for(codecTensors)('without %s is refused, or has no encoder', async (name) => {
    const weights = editedWeights('tiny-24l', (tensors) => tensors.delete(name))
    const parts = [
      'encoder.model.0.conv.weight',
      'encoder_transformer.transformer.layers.0.linear1.weight',
      'downsample.conv.conv.weight',
    ]
    if (parts.includes(name.slice('mimi.'.length))) {
      expect((await MimiCodec.load(weights, kernels)).canEncode).toBe(false)
      return
    }
    const { code, message } = await refusal(weights)
    expect(code).toBe('missing-tensor')
    // Layers are counted by this tensor, so without it there is one layer less.
    const counts = name.endsWith('.layers.1.linear1.weight')
    expect(message).toContain(counts ? 'layers, expected' : name)
  })

  test.for<[string, number[], RegExp]>([
    ['decoder.model.2.convtr.weight', [32, 16, 11], /kernel of 11, expected 2 ×/],
    [
      'decoder.model.2.convtr.weight',
      [32, 16, 14],
      /encoder.model.9.conv.weight is \[32, 16, 12\], expected \[32, 16, 14\]/,
    ],
    [
      'encoder.model.3.conv.weight',
      [8, 4, 7],
      /encoder.model.3.conv.weight is \[8, 4, 7\], expected \[8, 4, 8\]/,
    ],
    ['upsample.convtr.convtr.weight', [64, 1, 31], /kernel of 31/],
    ['upsample.convtr.convtr.weight', [64, 2, 32], /upsample.* is \[64, 2, 32\], expected \[64, 1, 32\]/],
    ['downsample.conv.conv.weight', [32, 64, 16], /downsample.* is \[32, 64, 16\], expected \[32, 64, 32\]/],
    ['decoder.model.11.conv.weight', [2, 4, 3], /decoder.model.11.* is \[2, 4, 3\], expected \[1, 4, 3\]/],
    ['decoder.model.3.block.3.conv.weight', [16, 8, 3], /expected \[16, 8, 1\]/],
    ['decoder.model.0.conv.weight', [0, 64, 7], /no size may be 0/],
    ['decoder.model.0.conv.weight', [32, 64], /expected 3 dimensions/],
    ['quantizer.output_proj.weight', [64, 0, 1], /quantizer.output_proj.weight is \[64, 0/],
    ['encoder.model.0.conv.weight', [4, 2, 7], /expected \[4, 1, 7\]/],
    ['decoder_transformer.transformer.layers.1.linear1.weight', [0, 64], /no rows/],
    ['decoder.model.8.convtr.weight', [8, 4, 6000], /frame of 1440000 samples, expected at most/],
  ])('whose %s is %o is refused', async ([name, shape, message]) => {
    const error = await refusal(
      editedWeights('tiny-24l', (tensors) => reshape(tensors, `mimi.${name}`, shape)),
    )
    expect(error.code).toBe('wrong-shape')
    expect(error.message).toMatch(message)
  })

  test('of integers is refused', async () => {
    const weights = editedWeights('tiny-24l', (tensors) => {
      const tensor = tensors.get('mimi.decoder.model.5.convtr.bias')
      if (tensor) tensor.dtype = 'I16'
    })
    expect(await refusal(weights)).toMatchObject({ code: 'wrong-dtype' })
  })

  test('of another network is refused by the name of what it lacks', async () => {
    const weights = editedWeights('tiny-24l', (tensors) => {
      for (const name of codecTensors) tensors.delete(name)
    })
    const { code, message } = await refusal(weights)
    expect([code, message]).toEqual([
      'missing-tensor',
      'the checkpoint has no tensor quantizer.output_proj.weight',
    ])
  })

  test('of wrong shapes is refused before a weight is read, and with nothing but a MimiError', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...codecTensors),
        fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
        async (name, shape) => {
          let reads = 0
          const weights = editedWeights('tiny-24l', (tensors) => reshape(tensors, name, shape))
          const counting: WeightReader = {
            names: () => weights.names(),
            has: (name) => weights.has(name),
            info: (name) => weights.info(name),
            bytes: (name) => {
              reads++
              return weights.bytes(name)
            },
            f32: (name) => {
              reads++
              return weights.f32(name)
            },
          }
          const outcome: unknown = await MimiCodec.load(counting, kernels).catch((error: unknown) => error)
          // Some sizes are free: a longer kernel, another latent width. Such a checkpoint must load and work.
          if (outcome instanceof MimiCodec)
            await outcome.createDecoder().decode(new Float32Array(outcome.config.latentDim))
          else expect([outcome instanceof MimiError, reads]).toEqual([true, 0])
        },
      ),
      { numRuns: 60 },
    ))
})

describe('a checkpoint without voice cloning', () => {
  const page = /huggingface\.co\/kyutai\/pocket-tts/

  const zeroed = (fill: number) =>
    editedWeights('tiny-2026-04', (tensors) => {
      for (const [name, { bytes }] of tensors) {
        if (!name.startsWith('mimi.encoder.')) continue
        // High bytes of BF16: 0x80 makes them −0.
        for (let i = 0; i < bytes.length; i += 2) [bytes[i], bytes[i + 1]] = [0, fill]
      }
    })
  const removed = (part: string) =>
    editedWeights('tiny-2026-04', (tensors) => {
      for (const name of [...tensors.keys()]) if (name.startsWith(part)) tensors.delete(name)
    })

  test.for<[string, SafeTensors, RegExp]>([
    ['zeros', zeroed(0), /encoder is all zeros/],
    ['negative zeros', zeroed(0x80), /encoder is all zeros/],
    ['no encoder', removed('mimi.encoder.'), /encoder is not in the checkpoint/],
    ['no encoder transformer', removed('mimi.encoder_transformer.'), /encoder is not in the checkpoint/],
    ['no downsampling', removed('mimi.downsample.'), /encoder is not in the checkpoint/],
  ])('(%s) decodes, and refuses to encode by naming the page', async ([, weights, reason]) => {
    const codec = await MimiCodec.load(weights, kernels)
    expect(codec.canEncode).toBe(false)
    const refused = codec.encode(wave().subarray(0, 1920))
    await expect(refused).rejects.toMatchObject({ name: 'MimiError', code: 'no-encoder' })
    await expect(refused).rejects.toThrow(page)
    await expect(refused).rejects.toThrow(reason)
    expect(() => codec.createEncoder()).toThrow(page)

    const full = await tinyCodec('tiny-2026-04', kernels)
    expect(await codec.createDecoder().decode(latents)).toEqual(await full.createDecoder().decode(latents))
  })

  test('takes the width of its latents from what is stated where the shapes cannot say', async () => {
    const { config } = await MimiCodec.load(removed('mimi.downsample.'), kernels, { innerDim: 64 })
    expect(config.innerDim).toBe(64)
  })
})
