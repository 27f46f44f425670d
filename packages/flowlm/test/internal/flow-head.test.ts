import { Checkpoint, type Plan } from '@pocket/nn'
import { relativeL2 } from '@tooling/fixtures'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { loadFlowHead, recordFlow } from '../../src/flow-head.ts'
import { LatentSampler } from '../../src/latent-sampler.ts'
import { embedInterval, loadTimestepEmbedders, type TimestepEmbedder } from '../../src/time-embedding.ts'
import { describeOnEveryLevel } from '../levels.ts'
import { openModel, scaled, tinyGoldens, tinyModels, tolerance } from '../models.ts'

describeOnEveryLevel('flow head', (kernels) => {
  describe.each(tinyModels)('%s', (model) => {
    const { goldens, info } = tinyGoldens(model)
    const hidden = goldens.row('ar.hidden', 0)
    const noise = scaled(goldens.row('ar.noise', 0), Math.sqrt(info.ar.temp))
    let evaluation: Plan
    let sampler: LatentSampler
    let embedders: [TimestepEmbedder, TimestepEmbedder]

    beforeAll(async () => {
      const checkpoint = new Checkpoint(openModel(model), {
        prefix: 'flow_lm.',
        fail: (_, text) => new Error(text),
      })
      const config = readConfig(checkpoint)
      const head = await loadFlowHead(checkpoint, kernels(), config, 'stored')
      embedders = await loadTimestepEmbedders(checkpoint, config)
      evaluation = kernels().plan(recordFlow(head, 1))
      sampler = new LatentSampler(kernels(), head, embedders)
    })

    /** `v(hidden, start, end, latent)`: one Euler step of length 1, less where it began. */
    const velocity = async (latent: Float32Array, start: number, end: number): Promise<Float32Array> => {
      evaluation.write('hidden', hidden)
      evaluation.write('time', embedInterval(embedders, start, end))
      evaluation.write('noise', latent)
      evaluation.run()
      const { data } = await evaluation.read('latent')
      return data.map((value, i) => value - (latent[i] ?? Number.NaN))
    }

    it('embeds intervals as the reference does', () => {
      info.flow.pairs.forEach(([start, end], row) => {
        const embedding = embedInterval(embedders, start, end)
        expect(relativeL2(embedding, goldens.row('flow.time', row))).toBeLessThan(tolerance.stage)
      })
    })

    it('evaluates the velocity as the reference does', async () => {
      for (const [row, [start, end]] of info.flow.pairs.entries()) {
        const v = await velocity(noise, start, end)
        expect(relativeL2(v, goldens.row('flow.v', row))).toBeLessThan(tolerance.stage)
      }
    })

    it('takes one evaluation for one LSD step', async () => {
      const v = await velocity(noise, 0, 1)
      const latent = await sampler.sample(hidden, noise, 1)
      expect(
        relativeL2(
          latent,
          noise.map((x, i) => x + (v[i] ?? Number.NaN)),
        ),
      ).toBeLessThan(1e-6)
    })

    it('takes n evaluations, each for an n-th of the way, for n LSD steps', async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (steps) => {
          let latent = noise
          for (let i = 0; i < steps; i++) {
            const v = await velocity(latent, i / steps, (i + 1) / steps)
            latent = latent.map((x, index) => x + (v[index] ?? Number.NaN) / steps)
          }
          expect(relativeL2(await sampler.sample(hidden, noise, steps), latent)).toBeLessThan(tolerance.stage)
        }),
        { numRuns: 12 },
      )
    })
  })
})
