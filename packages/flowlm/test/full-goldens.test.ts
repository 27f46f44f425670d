import { FlowLm, type FlowState } from '@pocket/flowlm'
import { SafeTensors } from '@pocket/safetensors'
import {
  type FullWeight,
  fullWeights,
  maxAbsoluteError,
  readJson,
  relativeL2,
  writeTensorFile,
} from '@tooling/fixtures'
import { beforeAll, expect, it } from 'vitest'
import { describeOnEveryLevel } from './levels.ts'
import { cacheRows, Goldens, logitTolerance, range, scaled, tolerance } from './models.ts'

interface FullCase {
  ids: number[]
  temp: number
  clone: { offset: number; kv_rows: number[] }
}

const config = 'english_2026-04'
const goldens = new Goldens(`full/golden-${config}.safetensors`)
const { ids, temp, clone } = readJson<FullCase>(`full/golden-${config}.json`)
const lastLayer = 5
const noise = (step: number): Float32Array => scaled(goldens.row('noise', step), Math.sqrt(temp))

function* flowLmWeights(): Generator<FullWeight> {
  for (const weight of fullWeights(config)) if (weight.name.startsWith('flow_lm.')) yield weight
}

describeOnEveryLevel('goldens of the real geometry', (kernels) => {
  let flowLm: FlowLm

  beforeAll(async () => {
    flowLm = await FlowLm.load(SafeTensors.fromBytes(writeTensorFile(flowLmWeights())), kernels())
  })

  const expectPromptTaps = async (state: FlowState, name: string): Promise<void> => {
    for (const tap of ['layer.0', `layer.${lastLayer}`, 'hidden']) {
      const { data } = await state.tap(tap)
      expect(relativeL2(data, goldens.data(`${name}.prompt.${tap}`)), tap).toBeLessThan(tolerance.pass)
    }
  }

  const expectSteps = async (state: FlowState, name: string): Promise<void> => {
    const [steps = 0] = goldens.get(`${name}.hidden`).shape
    const found = { hidden: [] as number[], logits: [] as number[], latents: [] as number[] }
    let previous: Float32Array | null = null
    for (const step of range(0, steps)) {
      const { hidden, eosLogit }: { hidden: Float32Array; eosLogit: number } = await flowLm.step(
        previous,
        state,
      )
      previous = await flowLm.sampleLatent(hidden, noise(step), 1)
      found.hidden.push(...hidden)
      found.logits.push(eosLogit)
      found.latents.push(...previous)
    }
    expect(relativeL2(found.hidden, goldens.data(`${name}.hidden`))).toBeLessThan(tolerance.pass)
    expect(maxAbsoluteError(found.logits, goldens.data(`${name}.eos_logit`))).toBeLessThan(logitTolerance)
    expect(relativeL2(found.latents, goldens.data(`${name}.latent`))).toBeLessThan(tolerance.pass)
  }

  it('has the published sizes', () => {
    expect(flowLm.config).toMatchObject({
      vocabularySize: 4000,
      dModel: 1024,
      layers: lastLayer + 1,
      heads: 16,
      headDim: 64,
      feedForward: 4096,
      latentDim: 32,
      flowDim: 512,
      flowDepth: 6,
    })
  })

  it('reads a text and speaks without a voice', async () => {
    const state = flowLm.createState({ capacity: 8 })
    await flowLm.promptTokens(ids, state)
    await expectPromptTaps(state, 'plain')
    await expectSteps(state, 'plain')
    state.dispose()
  })

  it.each([2, 4])('samples the first latent in %i LSD steps', async (steps) => {
    const latent = await flowLm.sampleLatent(goldens.row('plain.hidden', 0), noise(0), steps)
    expect(relativeL2(latent, goldens.data(`plain.lsd${steps}.step0`))).toBeLessThan(tolerance.stage)
  })

  it('builds a voice and speaks with it', async () => {
    const { data: latents, frames } = goldens.timeMajor('enc.latent')
    const rows = await flowLm.voicePrompt(latents, frames)
    const projected = rows.data.subarray(flowLm.config.dModel)
    expect(relativeL2(projected, goldens.data('clone.cond'))).toBeLessThan(tolerance.stage)
    const prompted = flowLm.createState()
    await flowLm.promptRows(rows.data, frames + 1, prompted)
    expect(prompted.position).toBe(clone.offset)
    const voice = await prompted.snapshot()
    prompted.dispose()
    for (const layer of [0, lastLayer]) {
      const kv = cacheRows(voice, layer, clone.kv_rows)
      expect(relativeL2(kv, goldens.data(`clone.kv.${layer}.rows`)), `${layer}`).toBeLessThan(tolerance.pass)
    }

    const state = flowLm.createState({ adopt: voice })
    await flowLm.promptTokens(ids, state)
    await expectPromptTaps(state, 'voice')
    await expectSteps(state, 'voice')
    state.dispose()
  })
})
