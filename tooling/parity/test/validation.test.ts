import { FlowLm } from '@pocket/flowlm'
import { createGpuKernels } from '@pocket/kernels-wgsl'
import { MimiCodec } from '@pocket/mimi'
import { ndArray, record, type WeightReader } from '@pocket/nn'
import { type Dtype, SafeTensors } from '@pocket/safetensors'
import { fullWeights, readFixture } from '@tooling/fixtures'
import { describe, expect, it } from 'vitest'
import { create } from 'webgpu'

/**
 * Dawn without a GPU compiles and validates every kernel, layout and limit, and computes nothing: the plans of all sizes
 * go through it, with what a device may have beyond the core and without. A device that is asked for nothing more has
 * the default limits.
 */

const dawn = create(['backend=null'])

const openDevice = async (features: GPUFeatureName[]) => {
  const adapter = await dawn.requestAdapter()
  if (!adapter) throw new Error('Dawn has no null adapter')
  const device = await adapter.requestDevice({ requiredFeatures: features })
  const problems: string[] = []
  device.addEventListener('uncapturederror', ({ error }) => problems.push(error.message))
  return { device, problems }
}

/** Names and shapes of a checkpoint, with zeros for weights: but for one, which says that the encoder is there. */
const shapesOf = (tensors: ReadonlyMap<string, { shape: number[]; dtype: Dtype }>): WeightReader => {
  const info = (name: string) => {
    const found = tensors.get(name)
    if (!found) throw new Error(`no tensor ${name}`)
    const size = found.dtype === 'F32' ? 4 : 2
    return { ...found, byteLength: found.shape.reduce((product, length) => product * length, size) }
  }
  return {
    names: () => [...tensors.keys()],
    has: (name) => tensors.has(name),
    info,
    bytes: (name) => new Uint8Array(info(name).byteLength),
    f32: (name) => {
      const { shape } = info(name)
      const length = shape.reduce((product, size) => product * size, 1)
      return ndArray(new Float32Array(length).fill(name.includes('encoder.model.0') ? 1 : 0), shape)
    },
  }
}

const tinyModel = (model: string): WeightReader =>
  SafeTensors.fromBytes(readFixture(`tiny/${model}/model.safetensors`))

const fullModel = (_: string, dtype: Dtype): WeightReader =>
  shapesOf(new Map([...fullWeights()].map(({ name, shape }) => [name, { shape, dtype }])))

/** Of a frame of the usual model: each takes a large GPU 4 µs, whatever it computes. */
const mostDispatches = 80

describe.each([
  {
    title: 'with subgroups',
    features: ['subgroups', 'timestamp-query'] as GPUFeatureName[],
    tuning: { unroll: 4, workgroup: 256 },
  },
  { title: 'without any feature', features: [], tuning: { unroll: 2, workgroup: 64 } },
])('every plan is valid, $title', ({ features, tuning }) => {
  it.each([
    { model: 'tiny-2026-04', weights: tinyModel, lanes: 1, kept: 'BF16' },
    { model: 'tiny-2026-01', weights: tinyModel, lanes: 1, kept: 'BF16' },
    { model: 'tiny-24l', weights: tinyModel, lanes: 3, kept: 'BF16' },
    { model: 'full size', weights: fullModel, lanes: 1, kept: 'BF16' },
    { model: 'full size', weights: fullModel, lanes: 8, kept: 'BF16' },
    { model: 'full size', weights: fullModel, lanes: 1, kept: 'F16' },
    { model: 'full size', weights: fullModel, lanes: 1, kept: 'int8' },
  ])('$model, weights $kept, lanes: $lanes', async ({ model, weights, lanes, kept }) => {
    const { device, problems } = await openDevice(features)
    // As a GPU would be used: what stands for one here is not meant to be fast.
    const kernels = await createGpuKernels({
      device,
      lanes,
      tuning: { threads: 1 << 16, ...tuning },
      selfTest: false,
    })
    const reader = weights(model, kept === 'F16' ? 'F16' : 'BF16')
    const codec = await MimiCodec.load(reader, kernels)
    const flowLm = await FlowLm.load(reader, kernels, { precision: kept === 'int8' ? kept : 'stored' })
    const state = flowLm.createState({ capacity: 700 })
    const { dModel, latentDim } = flowLm.config
    const pass = flowLm.framePass(state, 2)
    const frame = record('frame', (ops) => {
      const latent = ops.input('latent', 1, latentDim)
      const { next, eos, denormalized } = pass.describe(ops, latent, ops.input('noise', 1, latentDim))
      ops.tap('next', next)
      ops.tap('eos', eos)
      ops.tap('pcm', codec.createDecoderPass().describe(ops, denormalized))
    })
    const stream = kernels.stream(frame, {
      feedback: { latent: 'next' },
      inputs: ['noise'],
      outputs: ['next', 'eos', 'pcm'],
    })
    // Of two LSD steps, the second being 14 of them.
    if (model === 'full size') expect(stream.dispatches).toBeLessThanOrEqual(mostDispatches + 14)
    const noise = new Float32Array(lanes * latentDim)
    const [outputs] = await stream.submit([{ noise }, { noise }])
    expect(outputs?.pcm).toHaveLength(lanes * codec.config.frameSize)
    if (lanes === 1) {
      await flowLm.promptRows(new Float32Array(50 * dModel), 50, state)
      await flowLm.voicePrompt(new Float32Array(9 * (flowLm.config.innerDim ?? 0)), 9)
      await codec.encode(new Float32Array(codec.config.frameSize), { taps: ['encoder'] })
      await codec.createDecoder().decode(new Float32Array(latentDim))
    }
    await kernels.ready()
    expect(problems).toEqual([])
    device.destroy()
  })
})
