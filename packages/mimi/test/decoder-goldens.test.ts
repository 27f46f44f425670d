import type { MimiCodec } from '@pocket/mimi'
import { readGoldens, readJson, relativeL2 } from '@tooling/fixtures'
import { beforeAll, expect, test } from 'vitest'
import { golden, tinyCodec, tinyModels } from './checkpoints.ts'
import { describeOnEveryLevel } from './levels.ts'
import { wholePass } from './tolerances.ts'

interface GoldenFacts {
  decode: {
    frames: number
    tapped_frames: number[]
    decoder_modules: number[]
    decoder_modules_at_frames: number[]
  }
}

for (const model of tinyModels) {
  const goldens = readGoldens(`tiny/${model}/golden.safetensors`)
  const { decode } = readJson<GoldenFacts>(`tiny/${model}/golden.json`)
  const latents = golden(goldens, 'ar.denorm').data.subarray(0, decode.frames * 32)

  describeOnEveryLevel(`${model}: decoder`, (kernels) => {
    let codec: MimiCodec
    beforeAll(async () => {
      codec = await tinyCodec(model, kernels)
    })

    test('decodes all frames at once', async () => {
      const pcm = await codec.createDecoder().decode(latents, decode.frames)
      expect(relativeL2(pcm, golden(goldens, 'dec.pcm').data)).toBeLessThan(wholePass)
    })

    test('decodes frame by frame, with the taps of the reference', async () => {
      const decoder = codec.createDecoder()
      const pcm: number[] = []
      for (let frame = 0; frame < decode.frames; frame++) {
        pcm.push(...(await decoder.decode(latents.subarray(frame * 32, (frame + 1) * 32))))
        if (!decode.tapped_frames.includes(frame)) continue
        const modules = decode.decoder_modules_at_frames.includes(frame) ? decode.decoder_modules : []
        for (const name of ['quantizer', 'upsample', 'transformer', ...modules.map((i) => `model.${i}`)]) {
          const expected = golden(goldens, `dec.${frame}.${name}`)
          const { data, shape, stride, offset } = await decoder.tap(name)
          expect({ shape, stride, offset }).toEqual({
            shape: expected.shape,
            stride: [expected.shape[1], 1],
            offset: 0,
          })
          expect(relativeL2(data, expected.data), `frame ${frame}, ${name}`).toBeLessThan(wholePass)
        }
      }
      expect(relativeL2(pcm, golden(goldens, 'dec.pcm').data)).toBeLessThan(wholePass)
    })
  })
}
