import { MimiCodec } from '@pocket/mimi'
import { readGoldens, readJson, relativeL2 } from '@tooling/fixtures'
import { beforeAll, expect, test } from 'vitest'
import { golden, tinyModels, tinyWeights, wave } from './checkpoints.ts'
import { describeOnEveryLevel } from './levels.ts'

/**
 * Relative L2 of the sound against the float32 goldens: 50 dB below it. A row's steps are its greatest value over 8191,
 * the weights' between a 32767th and, where 512 of them are summed, a 1000th of the greatest; either adds up to 3e-4 of
 * a layer's output, and the errors of some twenty layers are independent: 1.3e-3, or 58 dB, in all. Measured: 72 dB for
 * these models, 69 for the embedded one, 60 for the real geometry with weights of noise.
 */
const bound = 10 ** (-50 / 20)

for (const model of tinyModels) {
  const goldens = readGoldens(`tiny/${model}/golden.safetensors`)
  const { decode } = readJson<{ decode: { frames: number } }>(`tiny/${model}/golden.json`)
  const latents = golden(goldens, 'ar.denorm').data.subarray(0, decode.frames * 32)

  describeOnEveryLevel(`${model}: decoder in 16-bit integers`, (kernels) => {
    let codec: MimiCodec
    beforeAll(async () => {
      codec = await MimiCodec.load(tinyWeights(model), kernels, {}, { precision: 'int16' })
    })

    test('decodes within 50 dB of float32, and not with float32', async () => {
      const pcm = await codec.createDecoder().decode(latents, decode.frames)
      const error = relativeL2(pcm, golden(goldens, 'dec.pcm').data)
      expect(error).toBeLessThan(bound)
      expect(error).toBeGreaterThan(1e-5)
    })

    test('gives the same bits frame by frame and all at once: a time step is quantised by itself', async () => {
      const whole = await codec.createDecoder().decode(latents, decode.frames)
      const decoder = codec.createDecoder()
      const parts: number[] = []
      for (let frame = 0; frame < decode.frames; frame++) {
        parts.push(...(await decoder.decode(latents.subarray(frame * 32, (frame + 1) * 32))))
      }
      expect(Float32Array.from(parts)).toEqual(whole)
    })

    test('encodes with the stored weights', async () => {
      const pcm = wave().subarray(0, 2 * codec.config.frameSize)
      const stored = await MimiCodec.load(tinyWeights(model), kernels)
      expect((await codec.encode(pcm)).data).toEqual((await stored.encode(pcm)).data)
    })
  })
}
