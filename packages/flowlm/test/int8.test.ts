import { FlowLm } from '@pocket/flowlm'
import { maxAbsoluteError, relativeL2 } from '@tooling/fixtures'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeOnEveryLevel } from './levels.ts'
import { openModel, range, readVoice, scaled, tinyGoldens, tinyModels } from './models.ts'

/**
 * Relative L2 against the float32 goldens. The largest of an output's n roughly normal weights lies at 2.6 to 3.3 σ for
 * n from 100 to 1000; steps of a 127th of it round by 1/√12 of a step, 0.6 to 0.75 % of σ. A branch of a layer passes two
 * such matrices: 1.1 %. Branches add up in the residual stream with independent errors, which leaves the share as it is.
 * Twice that is the bound. 16-bit rows add 1e-4 and do not count.
 */
const bound = 2e-2

/** Less would mean that nothing was quantised. */
const floor = 1e-3

describeOnEveryLevel('eight bits', (kernels) => {
  describe.each(tinyModels)('%s', (model) => {
    const { goldens, info } = tinyGoldens(model)
    const noise = (step: number): Float32Array =>
      scaled(goldens.row('ar.noise', step), Math.sqrt(info.ar.temp))
    let flowLm: FlowLm

    beforeAll(async () => {
      flowLm = await FlowLm.load(openModel(model), kernels(), { precision: 'int8' })
    })

    it('stays near float32 in every layer of a prompt, and in steps after given latents', async () => {
      const state = flowLm.createState({ adopt: readVoice(model) })
      await flowLm.promptTokens(info.prompt.ids, state)
      const taps = ['hidden', ...range(0, flowLm.config.layers).map((layer) => `layer.${layer}`)]
      for (const tap of taps.filter((name) => goldens.has(`prompt.${name}`))) {
        const error = relativeL2((await state.tap(tap)).data, goldens.data(`prompt.${tap}`))
        expect(error, tap).toBeLessThan(bound)
        expect(error, tap).toBeGreaterThan(floor)
      }

      const found = { hidden: [] as number[], logits: [] as number[], latents: [] as number[] }
      for (const step of range(0, info.ar.steps)) {
        const previous = step === 0 ? null : goldens.row('ar.latent', step - 1)
        const { hidden, eosLogit } = await flowLm.step(previous, state)
        found.hidden.push(...hidden)
        found.logits.push(eosLogit)
        found.latents.push(...(await flowLm.sampleLatent(hidden, noise(step), 1)))
      }
      state.dispose()
      expect(relativeL2(found.hidden, goldens.data('ar.hidden'))).toBeLessThan(bound)
      expect(relativeL2(found.latents, goldens.data('ar.latent'))).toBeLessThan(bound)
      // Logits of these models range over 3 to 5.
      expect(maxAbsoluteError(found.logits, goldens.data('ar.eos_logit'))).toBeLessThan(0.1)
    })
  })
})

describeOnEveryLevel('eight bits, step by step', (kernels) => {
  it('read a prompt as they would have spoken it: row by row, to rounding', async () => {
    const flowLm = await FlowLm.load(openModel('tiny-2026-04'), kernels(), { precision: 'int8' })
    const [whole, single] = [flowLm.createState(), flowLm.createState()]
    const ids = [5, 17, 250, 3, 999, 42, 7]
    await flowLm.promptTokens(ids, whole)
    for (const id of ids) await flowLm.promptTokens([id], single)
    const [expected, found] = await Promise.all([whole.snapshot(), single.snapshot()])
    for (const [layer, { k, v }] of expected.layers.entries()) {
      // A value at the edge between two integers may fall to either side: a 16-bit step of a row, 3e-5.
      expect(relativeL2(found.layers[layer]?.k ?? [], k), `layer ${layer}`).toBeLessThan(1e-4)
      expect(relativeL2(found.layers[layer]?.v ?? [], v), `layer ${layer}`).toBeLessThan(1e-4)
    }
    whole.dispose()
    single.dispose()
  })
})
