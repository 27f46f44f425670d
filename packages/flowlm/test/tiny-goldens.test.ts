import { FlowLm } from '@pocket/flowlm'
import { maxAbsoluteError, relativeL2 } from '@tooling/fixtures'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeOnEveryLevel } from './levels.ts'
import {
  cacheRows,
  logitTolerance,
  openModel,
  range,
  readVoice,
  scaled,
  tinyGoldens,
  tinyModels,
  tolerance,
} from './models.ts'

describeOnEveryLevel('goldens of the small models', (kernels) => {
  describe.each(tinyModels)('%s', (model) => {
    const { goldens, info } = tinyGoldens(model)
    const voice = readVoice(model)
    const noise = (step: number): Float32Array =>
      scaled(goldens.row('ar.noise', step), Math.sqrt(info.ar.temp))
    let flowLm: FlowLm

    beforeAll(async () => {
      flowLm = await FlowLm.load(openModel(model), kernels())
    })

    it('projects a speaker and builds the voice from it', async () => {
      const { data: latents, frames } = goldens.timeMajor('clone.latent')
      const rows = await flowLm.voicePrompt(latents, frames)
      const first = info.clone.bos_before_voice ? 1 : 0
      expect(rows.shape).toEqual([frames + first, flowLm.config.dModel])
      const projected = rows.data.subarray(first * flowLm.config.dModel)
      expect(relativeL2(projected, goldens.data('clone.cond'))).toBeLessThan(tolerance.stage)

      const state = flowLm.createState()
      await flowLm.promptRows(rows.data, frames + first, state)
      expect(state.position).toBe(info.clone.offset)
      const snapshot = await state.snapshot()
      state.dispose()
      const all = range(0, info.clone.offset)
      expect(relativeL2(cacheRows(snapshot, 0, all), goldens.data('clone.kv.0'))).toBeLessThan(tolerance.pass)
      expect(snapshot.positions).toBe(voice.positions)
      for (const layer of range(0, flowLm.config.layers)) {
        expect(relativeL2(cacheRows(snapshot, layer, all), cacheRows(voice, layer, all))).toBeLessThan(
          tolerance.pass,
        )
      }
    })

    it('reads a text after a voice', async () => {
      const { ids, offset_before, offset_after } = info.prompt
      const state = flowLm.createState({ adopt: voice })
      expect(state.position).toBe(offset_before)
      await flowLm.promptTokens(ids, state)
      expect(state.position).toBe(offset_after)

      const layers = range(0, flowLm.config.layers)
      const taps = ['embed', 'hidden', ...layers.map((layer) => `layer.${layer}`)]
      for (const tap of taps.filter((name) => goldens.has(`prompt.${name}`))) {
        const { data, shape } = await state.tap(tap)
        expect(shape, tap).toEqual([ids.length, flowLm.config.dModel])
        expect(relativeL2(data, goldens.data(`prompt.${tap}`)), tap).toBeLessThan(tolerance.pass)
      }
      const snapshot = await state.snapshot()
      for (const layer of layers.filter((index) => goldens.has(`prompt.kv.${index}`))) {
        const rows = cacheRows(snapshot, layer, range(offset_before, offset_after))
        expect(relativeL2(rows, goldens.data(`prompt.kv.${layer}`)), `layer ${layer}`).toBeLessThan(
          tolerance.pass,
        )
      }
      state.dispose()
    })

    it('speaks 64 steps that are fed back', async () => {
      const state = flowLm.createState({ adopt: voice })
      await flowLm.promptTokens(info.prompt.ids, state)
      const found = { hidden: [] as number[], logits: [] as number[], latents: [] as number[] }
      let previous: Float32Array | null = null
      for (const step of range(0, info.ar.steps)) {
        const { hidden, eosLogit }: { hidden: Float32Array; eosLogit: number } = await flowLm.step(
          previous,
          state,
        )
        previous = await flowLm.sampleLatent(hidden, noise(step), 1)
        found.hidden.push(...hidden)
        found.logits.push(eosLogit)
        found.latents.push(...previous)
      }
      state.dispose()
      expect(relativeL2(found.hidden, goldens.data('ar.hidden'))).toBeLessThan(tolerance.pass)
      expect(maxAbsoluteError(found.logits, goldens.data('ar.eos_logit'))).toBeLessThan(logitTolerance)
      expect(relativeL2(found.latents, goldens.data('ar.latent'))).toBeLessThan(tolerance.pass)
      const denormalized = flowLm.denormalize(Float32Array.from(found.latents))
      expect(relativeL2(denormalized, goldens.data('ar.denorm'))).toBeLessThan(tolerance.pass)
    })

    it.each([1, 2, 4])('samples latents in %i LSD steps', async (steps) => {
      const golden = goldens.get(`flow.lsd${steps}`)
      const latents: number[] = []
      for (const row of range(0, golden.shape[0] ?? 0)) {
        latents.push(...(await flowLm.sampleLatent(goldens.row('ar.hidden', row), noise(row), steps)))
      }
      expect(relativeL2(latents, golden.data)).toBeLessThan(tolerance.stage)
    })
  })
})
