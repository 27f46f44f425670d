import { FlowLm, type FlowLmConfig, type FlowLmErrorCode, type FlowLmOptions } from '@pocket/flowlm'
import { type CpuKernels, createCpuKernels } from '@pocket/kernels-cpu'
import { openBlob, SafeTensors } from '@pocket/safetensors'
import { relativeL2, writeTensorFile } from '@tooling/fixtures'
import { beforeAll, describe, expect, it } from 'vitest'
import { openModel, readVoice, tinyModels } from './models.ts'

interface StoredTensor {
  name: string
  dtype: string
  shape: readonly number[]
  bytes: Uint8Array
}

const tensorsOf = (file: SafeTensors): StoredTensor[] =>
  file.names().map((name) => ({ name, ...file.info(name), bytes: file.bytes(name) }))

const flowLmTensors = tensorsOf(openModel('tiny-2026-04')).filter(({ name }) => name.startsWith('flow_lm.'))
const open = (tensors: readonly StoredTensor[]): SafeTensors =>
  SafeTensors.fromBytes(writeTensorFile(tensors))

/** BF16 is the upper half of a float32. */
const widened = (tensor: StoredTensor): StoredTensor => {
  const bytes = new Uint8Array(2 * tensor.bytes.length)
  for (const [index, byte] of tensor.bytes.entries()) bytes[4 * (index >> 1) + 2 + (index & 1)] = byte
  return { ...tensor, dtype: 'F32', bytes }
}

let kernels: CpuKernels

beforeAll(async () => {
  kernels = await createCpuKernels({ simd: 'scalar' })
})

/** A little of everything that weights take part in. */
const speak = async (flowLm: FlowLm): Promise<number[]> => {
  const state = flowLm.createState({ adopt: readVoice('tiny-2026-04') })
  await flowLm.promptTokens([417, 0, 999], state)
  const { hidden, eosLogit } = await flowLm.step(null, state)
  const latent = await flowLm.sampleLatent(hidden, new Float32Array(32).fill(0.5), 2)
  const rows = await flowLm.voicePrompt(latent, 1)
  state.dispose()
  return [...hidden, eosLogit, ...flowLm.denormalize(latent), ...rows.data]
}

describe('a checkpoint loads the same', () => {
  let expected: number[]

  beforeAll(async () => {
    expected = await speak(await FlowLm.load(openModel('tiny-2026-04'), kernels))
  })

  const forms: [string, StoredTensor[]][] = [
    [
      'without its prefix',
      flowLmTensors.map((tensor) => ({ ...tensor, name: tensor.name.replace('flow_lm.', '') })),
    ],
    ['widened to F32', flowLmTensors.map(widened)],
    ['widened in parts', flowLmTensors.map((tensor, index) => (index % 2 === 0 ? widened(tensor) : tensor))],
    ['in another order', flowLmTensors.toReversed()],
  ]
  it.each(forms)('%s', async (_, tensors) => {
    expect(await speak(await FlowLm.load(open(tensors), kernels))).toEqual(expected)
  })

  it('in F16, as what that stands for', async () => {
    const inF16 = flowLmTensors.map((tensor) => {
      const values = new Float32Array(widened(tensor).bytes.buffer)
      return { ...tensor, dtype: 'F16' as const, bytes: new Uint8Array(new Float16Array(values).buffer) }
    })
    const wide = inF16.map((tensor) => {
      const values = new Float16Array(tensor.bytes.buffer)
      return { ...tensor, dtype: 'F32' as const, bytes: new Uint8Array(new Float32Array(values).buffer) }
    })
    const spoken = await speak(await FlowLm.load(open(inF16), kernels))
    expect(spoken).toEqual(await speak(await FlowLm.load(open(wide), kernels)))
    expect(relativeL2(Float32Array.from(spoken), Float32Array.from(expected))).toBeLessThan(1e-4)
  })

  it('from a reader whose answers arrive late', async () => {
    const reader = await openBlob(new Blob([writeTensorFile(flowLmTensors).slice()]))
    expect(await speak(await FlowLm.load(reader, kernels))).toEqual(expected)
  })

  it.each(['stored', 'f32', 'bf16'] as const)('at precision %s, being BF16 already', async (precision) => {
    expect(await speak(await FlowLm.load(openModel('tiny-2026-04'), kernels, { precision }))).toEqual(
      expected,
    )
  })

  it('and keeps nothing of the file: its bytes may be overwritten', async () => {
    const bytes = writeTensorFile(flowLmTensors.map(widened))
    const flowLm = await FlowLm.load(SafeTensors.fromBytes(bytes), kernels)
    bytes.fill(0)
    expect(await speak(flowLm)).toEqual(expected)
  })
})

describe('the config', () => {
  const small: FlowLmConfig = {
    vocabularySize: 1000,
    dModel: 128,
    layers: 3,
    heads: 2,
    headDim: 64,
    feedForward: 512,
    latentDim: 32,
    flowDim: 64,
    flowDepth: 2,
    timeEmbeddingDim: 256,
    innerDim: 32,
    maxPeriod: 10000,
    insertBosBeforeVoice: true,
  }
  const sizes: Record<(typeof tinyModels)[number], FlowLmConfig> = {
    'tiny-2026-04': small,
    'tiny-2026-01': { ...small, innerDim: 64, insertBosBeforeVoice: false },
    'tiny-24l': { ...small, dModel: 64, layers: 24, heads: 1, feedForward: 128 },
  }

  it.each(tinyModels)('of %s comes from the shapes', async (model) => {
    const flowLm = await FlowLm.load(openModel(model), kernels)
    expect(flowLm.config).toEqual({ ...sizes[model], insertBosBeforeVoice: flowLm.hasBosBeforeVoice })
    expect(flowLm.hasBosBeforeVoice).toBe(model !== 'tiny-2026-01')
    expect(flowLm.hasSpeakerProjection).toBe(true)
    expect(flowLm.latentMean).toEqual(openModel(model).f32('flow_lm.emb_mean').data)
    expect(flowLm.latentStd).toEqual(openModel(model).f32('flow_lm.emb_std').data)
  })

  it('may be claimed in full where it is true', async () => {
    const flowLm = await FlowLm.load(openModel('tiny-2026-04'), kernels, { config: small })
    expect(flowLm.config).toEqual(small)
  })

  it('may say what shapes cannot', async () => {
    const config = { heads: 4, maxPeriod: 5000, insertBosBeforeVoice: false }
    const flowLm = await FlowLm.load(openModel('tiny-2026-04'), kernels, { config })
    expect(flowLm.config).toEqual({ ...small, ...config, headDim: 32 })
    const state = flowLm.createState()
    await flowLm.promptTokens([1, 2, 3], state)
    expect(await state.snapshot()).toMatchObject({ positions: 3, heads: 4, headDim: 32 })
    expect((await flowLm.voicePrompt(new Float32Array(64), 2)).shape).toEqual([2, 128])
    state.dispose()
  })

  it('decides about the row before a voice', async () => {
    const flowLm = await FlowLm.load(openModel('tiny-2026-04'), kernels)
    const { data, shape } = await flowLm.voicePrompt(new Float32Array(64), 2)
    expect(shape).toEqual([3, 128])
    expect(data.subarray(0, 128)).toEqual(openModel('tiny-2026-04').f32('flow_lm.bos_before_voice').data)
  })

  it('knows a model that cannot make voices', async () => {
    const tensors = flowLmTensors.filter(({ name }) => name !== 'flow_lm.speaker_proj_weight')
    const flowLm = await FlowLm.load(open(tensors), kernels)
    expect(flowLm.hasSpeakerProjection).toBe(false)
    expect(flowLm.config.innerDim).toBeUndefined()
    await expect(flowLm.voicePrompt(new Float32Array(32), 1)).rejects.toMatchObject({
      name: 'FlowLmError',
      code: 'no-speaker-projection',
    })
  })
})

describe('load refuses', () => {
  const expectRefusal = async (
    tensors: SafeTensors,
    options: FlowLmOptions,
    code: FlowLmErrorCode,
    message: RegExp,
  ): Promise<void> => {
    await expect(FlowLm.load(tensors, kernels, options)).rejects.toMatchObject({
      name: 'FlowLmError',
      code,
      message: expect.stringMatching(message) as string,
    })
  }

  const contradictions: [Partial<FlowLmConfig>, RegExp][] = [
    [{ dModel: 1024 }, /the config says dModel 1024, the checkpoint's tensors say 128/],
    [{ layers: 24 }, /layers 24, .* say 3/],
    [{ headDim: 32 }, /headDim 32, .* say 64/],
    [{ heads: 3 }, /3 heads for a width of 128/],
    [{ heads: 0 }, /0 heads for a width of 128/],
    [{ heads: 128 }, /128 heads for a width of 128/],
    [{ maxPeriod: 0 }, /maxPeriod is 0/],
    [{ maxPeriod: Number.NaN }, /maxPeriod/],
  ]
  it.each(contradictions)('the claim %o', async (config, message) => {
    await expectRefusal(openModel('tiny-2026-04'), { config }, 'config', message)
  })

  it('a row before a voice that the checkpoint does not have', async () => {
    const config = { insertBosBeforeVoice: true }
    await expectRefusal(openModel('tiny-2026-01'), { config }, 'config', /no tensor bos_before_voice/)
  })

  it('precisions that are not there', async () => {
    const file = openModel('tiny-2026-04')
    await expectRefusal(file, { precision: 'f8' as never }, 'unavailable', /precision is f8/)
  })

  it('a file of another network', async () => {
    const mimi = tensorsOf(openModel('tiny-2026-04')).filter(({ name }) => name.startsWith('mimi.'))
    await expectRefusal(open(mimi), {}, 'missing-tensor', /conditioner.embed.weight: is this the checkpoint/)
  })

  const optional = new Set(['flow_lm.speaker_proj_weight', 'flow_lm.bos_before_voice'])
  const required = flowLmTensors.map(({ name }) => name).filter((name) => !optional.has(name))

  it.each(required)('a file without %s', async (missing) => {
    const tensors = flowLmTensors.filter(({ name }) => name !== missing)
    await expectRefusal(open(tensors), {}, 'missing-tensor', new RegExp(missing.replaceAll('.', '\\.')))
  })

  const changed = (name: string, change: (tensor: StoredTensor) => StoredTensor): SafeTensors =>
    open(flowLmTensors.map((tensor) => (tensor.name === name ? change(tensor) : tensor)))

  it.each(flowLmTensors.map(({ name }) => name))('%s in another shape', async (name) => {
    const longer = changed(name, (tensor) => {
      const bytes = new Uint8Array(tensor.bytes.length + 2)
      return { ...tensor, shape: [bytes.length / 2], bytes }
    })
    await expectRefusal(longer, {}, 'wrong-shape', /expected/)
    const empty = changed(name, (tensor) => ({
      ...tensor,
      shape: tensor.shape.map(() => 0),
      bytes: new Uint8Array(),
    }))
    await expectRefusal(empty, {}, 'wrong-shape', /expected|no values/)
  })

  it.each(flowLmTensors.map(({ name }) => name))('%s as integers', async (name) => {
    const integers = changed(name, (tensor) => ({ ...tensor, dtype: 'I16' }))
    await expectRefusal(integers, {}, 'wrong-dtype', /holds I16 values/)
  })

  it('a gap between layers or blocks', async () => {
    for (const gap of ['transformer.layers.1.', 'flow_net.res_blocks.0.']) {
      const tensors = flowLmTensors.filter(({ name }) => !name.includes(gap))
      await expectRefusal(open(tensors), {}, 'missing-tensor', new RegExp(gap))
    }
  })

  it('an embedding with no row but the padding', async () => {
    const file = changed('flow_lm.conditioner.embed.weight', (tensor) => ({
      ...tensor,
      shape: [1, 128],
      bytes: tensor.bytes.slice(0, 256),
    }))
    await expectRefusal(file, {}, 'wrong-shape', /one row/)
  })
})
