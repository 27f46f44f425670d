import { FlowLm, type KvSnapshot } from '@pocket/flowlm'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { createGpuKernels } from '@pocket/kernels-wgsl'
import { MimiCodec } from '@pocket/mimi'
import { type Kernels, type NdArray, ndArray } from '@pocket/nn'
import { SafeTensors } from '@pocket/safetensors'
import { noise, readFixture, relativeL2 } from '@tooling/fixtures'
import { describeOnGpu, gpuVariants } from '@tooling/fixtures/gpu'
import { expect, it } from 'vitest'

/**
 * Whole networks against the oracle at every tap. The bound of the fixtures for a pass is 5e-5; each step is fed what
 * the oracle was fed, so that nothing adds up but what the states carry.
 */
const tolerance = 5e-5

const oracle = await createCpuKernels({ simd: 'scalar' })
const weightsOf = (model: string): SafeTensors =>
  SafeTensors.fromBytes(readFixture(`tiny/${model}/model.safetensors`))

const agree = (actual: NdArray<Float32Array>, expected: NdArray<Float32Array>, what: string): void => {
  expect(actual.shape).toEqual(expected.shape)
  expect(relativeL2(actual.data, expected.data), what).toBeLessThan(tolerance)
}

const scaled = (values: Float32Array, factor: number): Float32Array => values.map((value) => value * factor)

await describeOnGpu(
  'networks give what the oracle gives, at every tap',
  createGpuKernels,
  (kernels) => {
    it('tiny-2026-04: decoder, past the wrap of its rings', async () => {
      const decoderOf = async (on: Kernels) =>
        (await MimiCodec.load(weightsOf('tiny-2026-04'), on)).createDecoder()
      const [expected, actual] = [await decoderOf(oracle), await decoderOf(kernels())]
      const latentDim = 32
      // 16 positions a frame in a ring of 266: the seventeenth frame wraps around, the nineteenth passes 300.
      for (let frame = 0; frame < 19; frame++) {
        const latent = noise(latentDim, frame)
        const golden = await expected.decode(latent)
        expect(relativeL2(await actual.decode(latent), golden), `frame ${frame}`).toBeLessThan(tolerance)
      }
      for (const tap of ['quantizer', 'upsample', 'transformer', 'model.0', 'model.3', 'model.8', 'pcm']) {
        agree(await actual.tap(tap), await expected.tap(tap), tap)
      }
      actual.reset()
      expected.reset()
      const latent = noise(latentDim, 99)
      expect(relativeL2(await actual.decode(latent), await expected.decode(latent)), 'reset').toBeLessThan(
        tolerance,
      )
    })

    it('tiny-2026-04: encoder', async () => {
      const taps = ['model.0', 'model.9', 'encoder', 'transformer', 'latent']
      const encode = async (on: Kernels) =>
        (await MimiCodec.load(weightsOf('tiny-2026-04'), on)).encode(scaled(noise(3 * 1920 - 700, 4), 0.3), {
          taps,
        })
      const [expected, actual] = [await encode(oracle), await encode(kernels())]
      for (const tap of taps) agree(actual.taps[tap]!, expected.taps[tap]!, tap)
      agree(actual, expected, 'latents')
    })

    it.each(['tiny-2026-04', 'tiny-24l'])('%s: prompt, steps and samples', async (model) => {
      const [expected, actual] = [
        await FlowLm.load(weightsOf(model), oracle),
        await FlowLm.load(weightsOf(model), kernels()),
      ]
      const { dModel, layers, latentDim } = expected.config
      const [oracleState, state] = [
        expected.createState({ capacity: 60 }),
        actual.createState({ capacity: 60 }),
      ]
      for (const rows of [11, 1, 3]) {
        const embeddings = noise(rows * dModel, rows)
        await expected.promptRows(embeddings, rows, oracleState)
        await actual.promptRows(embeddings, rows, state)
      }
      let previous: Float32Array | null = null
      for (let step = 0; step < 12; step++) {
        const golden = await expected.step(previous, oracleState)
        const found = await actual.step(previous, state)
        expect(relativeL2(found.hidden, golden.hidden), `hidden ${step}`).toBeLessThan(tolerance)
        expect(Math.abs(found.eosLogit - golden.eosLogit), `eos ${step}`).toBeLessThan(1e-3)
        const lsdSteps = step % 3 === 2 ? 3 : 1
        const drawn = scaled(noise(latentDim, 50 + step), 0.5)
        const latent = await expected.sampleLatent(golden.hidden, drawn, lsdSteps)
        const sampled = await actual.sampleLatent(golden.hidden, drawn, lsdSteps)
        expect(relativeL2(sampled, latent), `latent ${step}`).toBeLessThan(tolerance)
        previous = latent
      }
      for (let layer = 0; layer < layers; layer++) {
        agree(await state.tap(`layer.${layer}`), await oracleState.tap(`layer.${layer}`), `layer ${layer}`)
      }
      sameCaches(await state.snapshot(), await oracleState.snapshot())
    })

    it('a state adopts what another has seen, slot for slot', async () => {
      const model = await FlowLm.load(weightsOf('tiny-2026-04'), kernels())
      const seen = model.createState({ capacity: 20 })
      await model.promptTokens([5, 9, 200], seen)
      const snapshot = await seen.snapshot()
      const adopted = await model.createState({ adopt: snapshot, capacity: 30 }).snapshot()
      expect(adopted).toEqual(snapshot)
    })

    it('a prompt in passes that are filled up leaves what one of its own length does, after a shared voice', async () => {
      const expected = await FlowLm.load(weightsOf('tiny-2026-04'), oracle)
      const actual = await FlowLm.load(weightsOf('tiny-2026-04'), kernels(), { promptRows: [8, 4] })
      const { dModel } = expected.config
      const voiceState = expected.createState({ capacity: 5 })
      await expected.promptTokens([7, 3, 90, 4, 1], voiceState)
      const voice = await voiceState.snapshot()
      const shared = actual.share(voice)
      // Full to the last position: what fills up the last pass has room of its own.
      const oracleState = expected.createState({ adopt: voice, capacity: 18 })
      const state = actual.createState({ adopt: shared, capacity: 18 })
      const again = actual.createState({ capacity: 18 })
      const ids = [5, 9, 200, 11, 30, 2, 8, 77, 6, 12]
      await expected.promptTokens(ids, oracleState)
      await actual.promptTokens(ids, state)
      await actual.promptTokens([1, 2, 3], again)
      await actual.beginLane(again, 0, { adopt: shared, ids })
      expect(state.position).toBe(15)
      agree(
        await state.tap('hidden'),
        ndArray((await oracleState.tap('hidden')).data.slice(-2 * dModel), [2, dModel]),
        'hidden',
      )
      const golden = await expected.step(null, oracleState)
      const found = await actual.step(null, state)
      expect(relativeL2(found.hidden, golden.hidden)).toBeLessThan(tolerance)
      expect((await actual.step(null, again)).hidden).toEqual(found.hidden)
      sameCaches(await state.snapshot(), await oracleState.snapshot())
      shared.dispose()
    })
  },
  gpuVariants.slice(0, 1),
)

const sameCaches = (actual: KvSnapshot, expected: KvSnapshot): void => {
  expect(actual.positions).toBe(expected.positions)
  for (const [layer, { k, v }] of expected.layers.entries()) {
    expect(relativeL2(actual.layers[layer]!.k, k), `keys ${layer}`).toBeLessThan(tolerance)
    expect(relativeL2(actual.layers[layer]!.v, v), `values ${layer}`).toBeLessThan(tolerance)
  }
}
