import { bf16ToF32, type Dtype, type NdArray, SafeTensors, type TensorReader } from '@pocket/safetensors'
import { readFixture, writeTensorFile } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { combineLegacyFiles } from '../../src/legacy-checkpoint/combined-reader.ts'
import { renameFlowLm, renameMimi } from '../../src/legacy-checkpoint/names.ts'
import { foldWeightNorm } from '../../src/legacy-checkpoint/weight-norm.ts'

interface Tensor {
  name: string
  dtype: Dtype
  shape: number[]
  bytes: Uint8Array
}

const combined = SafeTensors.fromBytes(readFixture('tiny/tiny-2026-04/model.safetensors'))
const invalid = expect.objectContaining({ name: 'PocketTtsError', code: 'invalid-model' })

/** How training calls what the combined file renamed: written out here, not derived from what is tested. */
const trainingName = (name: string): string => {
  const [, network, rest = ''] = /^(flow_lm|mimi)\.(.*)$/.exec(name) ?? []
  if (network === 'flow_lm') {
    const renamed: Record<string, string> = {
      'conditioner.embed.weight': 'condition_provider.conditioners.transcript_in_segment.embed.weight',
      speaker_proj_weight: 'condition_provider.conditioners.speaker_wavs.output_proj.weight',
      bos_before_voice: 'fuser.padding_value',
    }
    return renamed[rest] ?? rest.replace('self_attn.in_proj.weight', 'self_attn.in_proj_weight')
  }
  const resampling: Record<string, string> = {
    'downsample.conv.conv.weight': 'downsample.conv.conv.conv.weight',
    'upsample.convtr.convtr.weight': 'upsample.convtr.convtr.convtr.weight',
  }
  const wrapped = rest
    .replace(/\.conv\.(weight|bias)$/, '.conv.conv.$1')
    .replace(/\.convtr\.(weight|bias)$/, '.convtr.convtr.$1')
  return `model.${resampling[rest] ?? wrapped.replace('self_attn.in_proj.weight', 'self_attn.in_proj_weight')}`
}

const tensorsOf = (prefix: string): Tensor[] =>
  combined
    .names()
    .filter((name) => name.startsWith(prefix))
    .map((name) => {
      const { dtype, shape } = combined.info(name)
      return { name: trainingName(name), dtype, shape, bytes: combined.bytes(name) }
    })

const noise = (name: string, ...shape: number[]): Tensor => ({
  name,
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(shape.reduce((product, size) => product * size, 4)).fill(63),
})

/** What training keeps beside the model. */
const flowLmExtras = [
  noise('flow.w_s_t.weight', 4),
  noise('condition_provider.conditioners.transcript_in_segment.learnt_padding', 1, 1, 8),
  noise('condition_provider.conditioners.speaker_wavs.learnt_padding', 1, 1, 8),
  noise('num_ema_updates', 1),
]
const mimiExtras = [
  noise('model.quantizer.vq.layers.0._codebook.embedding_sum', 4, 4),
  noise('model.quantizer.logvar_proj.weight', 4, 4),
  noise('quantizer.logvar_proj.weight', 4, 4),
  noise('quantizer.logvar_param', 1),
  noise('quantizer.rvq_first._codebook.cluster_usage', 4),
  noise('wavlm_proj.weight', 4, 4),
  noise('wavlm_emb_downsample.conv.conv.weight', 4, 4, 4),
  noise('wavlm_input_resample.kernel', 4),
]

const open = (tensors: Iterable<Tensor>): SafeTensors => SafeTensors.fromBytes(writeTensorFile(tensors))
const flowLmFile = open([...tensorsOf('flow_lm.'), ...flowLmExtras])
const mimiFile = open([...tensorsOf('mimi.'), ...mimiExtras])

const f32 = (name: string, values: Float32Array, ...shape: number[]): Tensor => ({
  name,
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
})

/** The same convolutions as directions and lengths: `v` is a multiple of the weight, `g` its norm. */
const withWeightNorm = (tensors: Tensor[]): Tensor[] =>
  tensors.flatMap((tensor) => {
    if (!/model\.\d+\..*conv(tr)?\.weight$/.test(tensor.name)) return [tensor]
    const weight = bf16ToF32(tensor.bytes)
    const rows = tensor.shape[0]!
    const width = weight.length / rows
    const norms = Float32Array.from({ length: rows }, (_, row) =>
      Math.hypot(...weight.subarray(row * width, (row + 1) * width)),
    )
    const direction = weight.map((value, i) => value * (1.5 + Math.floor(i / width)))
    return [
      f32(`${tensor.name}_v`, direction, ...tensor.shape),
      f32(`${tensor.name}_g`, norms, ...tensor.shape.map((size, axis) => (axis === 0 ? size : 1))),
    ]
  })

describe('a checkpoint of two files', () => {
  it('reads as the combined file does, tensor for tensor', async () => {
    const reader = combineLegacyFiles(flowLmFile, mimiFile)
    expect(reader.names().sort()).toEqual(combined.names().sort())
    for (const name of combined.names()) {
      expect(reader.has(name)).toBe(true)
      expect(reader.info(name)).toEqual(combined.info(name))
      expect(await reader.bytes(name)).toEqual(combined.bytes(name))
      expect((await reader.f32(name)).data).toEqual(combined.f32(name).data)
    }
  })

  it('has its weight norms folded', async () => {
    const reader = combineLegacyFiles(flowLmFile, open(withWeightNorm(tensorsOf('mimi.'))))
    expect(reader.names().sort()).toEqual(combined.names().sort())
    const folded = combined
      .names()
      .filter((name) => /mimi\.(en|de)coder\.model\..*conv(tr)?\.weight$/.test(name))
    expect(folded.length).toBeGreaterThan(10)
    for (const name of folded) {
      const expected = combined.f32(name)
      expect(reader.info(name)).toEqual({
        dtype: 'F32',
        shape: expected.shape,
        byteLength: expected.data.length * 4,
      })
      const found = await reader.f32(name)
      expect(found.shape).toEqual(expected.shape)
      expect(found.data).toBeInstanceOf(Float32Array)
      expectClose(found, expected)
      expect(await reader.bytes(name)).toEqual(new Uint8Array(found.data.buffer))
    }
  })

  it('is read tensor by tensor, when asked for', async () => {
    const asked: string[] = []
    const watch = (file: SafeTensors): TensorReader => ({
      metadata: file.metadata,
      names: () => file.names(),
      has: (name) => file.has(name),
      info: (name) => file.info(name),
      bytes: async (name) => {
        asked.push(name)
        return file.bytes(name)
      },
      f32: async (name) => {
        asked.push(name)
        return file.f32(name)
      },
      i64: async (name) => file.i64(name),
    })
    const reader = combineLegacyFiles(watch(flowLmFile), watch(open(withWeightNorm(tensorsOf('mimi.')))))
    expect(asked).toEqual([])
    await reader.bytes('flow_lm.emb_std')
    await reader.f32('mimi.decoder.model.0.conv.weight')
    expect(asked).toEqual([
      'emb_std',
      'model.decoder.model.0.conv.conv.weight_v',
      'model.decoder.model.0.conv.conv.weight_g',
    ])
  })

  it('may be of new names, or of combined files', () => {
    const part = (prefix: string): SafeTensors =>
      open(
        combined
          .names()
          .filter((name) => name.startsWith(prefix))
          .map((name) => ({
            name: name.slice(prefix.length),
            ...combined.info(name),
            bytes: combined.bytes(name),
          })),
      )
    for (const reader of [
      combineLegacyFiles(part('flow_lm.'), part('mimi.')),
      combineLegacyFiles(flowLmFile, combined),
      combineLegacyFiles(combined, combined),
    ]) {
      expect(reader.names().sort()).toEqual(combined.names().sort())
    }
  })

  it('keeps a blank encoder blank', async () => {
    const v = noise('model.encoder.model.0.conv.conv.weight_v', 2, 1, 3)
    const g = noise('model.encoder.model.0.conv.conv.weight_g', 2, 1, 1)
    v.bytes.fill(0)
    g.bytes.fill(0)
    const reader = combineLegacyFiles(flowLmFile, open([v, g]))
    expect((await reader.f32('mimi.encoder.model.0.conv.weight')).data).toEqual(new Float32Array(6))
  })
})

describe('what does not fit', () => {
  it.each([
    ['a length without direction', [noise('a.weight_g', 2, 1)], 'a.weight_g has no a.weight_v'],
    ['a direction without length', [noise('a.weight_v', 2, 3)], 'a.weight_v has no a.weight_g'],
    [
      'a length of another shape',
      [noise('a.weight_v', 2, 3), noise('a.weight_g', 3, 1)],
      'is [3, 1], expected [2, 1]',
    ],
    ['a direction that is a scalar', [noise('a.weight_v'), noise('a.weight_g')], 'a.weight_g is []'],
    ['two tensors of one name', [noise('model.a.weight', 1), noise('a.weight', 1)], 'are both mimi.a.weight'],
    [
      'a weight and its weight norm',
      [noise('a.weight', 1, 1), noise('a.weight_v', 1, 1), noise('a.weight_g', 1, 1)],
      'are both mimi.a.weight',
    ],
  ])('%s is refused before anything is read', (_, tensors, problem) => {
    expect(() => combineLegacyFiles(flowLmFile, open(tensors))).toThrow(invalid)
    expect(() => combineLegacyFiles(flowLmFile, open(tensors))).toThrow(problem)
  })

  it('is a row without direction that has a length', async () => {
    const v = noise('a.weight_v', 2, 3)
    v.bytes.fill(0, 12)
    const reader = combineLegacyFiles(flowLmFile, open([v, noise('a.weight_g', 2, 1)]))
    await expect(reader.f32('mimi.a.weight')).rejects.toThrow(invalid)
    await expect(reader.bytes('mimi.a.weight')).rejects.toThrow('a.weight_v: row 1')
  })

  it('is a name that is not there', async () => {
    const reader = combineLegacyFiles(flowLmFile, mimiFile)
    expect(reader.has('mimi.wavlm_proj.weight')).toBe(false)
    expect(() => reader.info('mimi.wavlm_proj.weight')).toThrow(invalid)
    await expect(reader.bytes('num_ema_updates')).rejects.toThrow(invalid)
  })
})

describe('laws', () => {
  const rowsAndWidth = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 7 }))
  const fail = (problem: string): Error => new Error(problem)

  it('a folded row has the length that was stated, and the direction', () => {
    fc.assert(
      fc.property(
        rowsAndWidth.chain(([rows, width]) =>
          fc.record({
            g: fc.array(fc.float({ min: -100, max: 100, noNaN: true }), { minLength: rows, maxLength: rows }),
            v: fc.array(fc.oneof(fc.float({ min: Math.fround(0.01), max: 100, noNaN: true })), {
              minLength: rows * width,
              maxLength: rows * width,
            }),
          }),
        ),
        ({ g, v }) => {
          const width = v.length / g.length
          const weight = foldWeightNorm(Float32Array.from(v), Float32Array.from(g), fail)
          for (const [row, length] of g.entries()) {
            const folded = weight.subarray(row * width, (row + 1) * width)
            expect(Math.hypot(...folded)).toBeCloseTo(Math.abs(length), 3)
            const direction = v.slice(row * width, (row + 1) * width)
            const cosine = folded.reduce((sum, value, i) => sum + value * direction[i]!, 0)
            expect(cosine * length).toBeGreaterThanOrEqual(0)
          }
        },
      ),
    )
  })

  it('renaming twice is renaming once', () => {
    const names = [...flowLmFile.names(), ...mimiFile.names(), ...combined.names()]
    for (const rename of [renameFlowLm, renameMimi]) {
      fc.assert(
        fc.property(fc.constantFrom(...names), (name) => {
          const once = rename(name)
          if (once !== undefined) expect(rename(once)).toBe(once)
        }),
      )
    }
  })
})

const expectClose = (found: NdArray<Float32Array>, expected: NdArray<Float32Array>): void => {
  for (const [i, value] of found.data.entries()) {
    expect(Math.abs(value - expected.data[i]!)).toBeLessThanOrEqual(2e-6 * Math.abs(expected.data[i]!) + 1e-9)
  }
}
