import type { MimiCodec } from '@pocket/mimi'
import { readGoldens, readJson, relativeL2, transpose } from '@tooling/fixtures'
import { beforeAll, expect, test } from 'vitest'
import { golden, tinyCodec, tinyModels, wave } from './checkpoints.ts'
import { describeOnEveryLevel } from './levels.ts'
import { wholePass } from './tolerances.ts'

interface GoldenFacts {
  encode: {
    lengths: number[]
    taps_of_modules_at: number[]
    encoder_modules: number[]
    columns_120000: number[]
  }
}

const samples = wave()

for (const model of tinyModels) {
  const goldens = readGoldens(`tiny/${model}/golden.safetensors`)
  const { encode } = readJson<GoldenFacts>(`tiny/${model}/golden.json`)

  describeOnEveryLevel(`${model}: encoder`, (kernels) => {
    let codec: MimiCodec
    beforeAll(async () => {
      codec = await tinyCodec(model, kernels)
    })

    test.for(encode.lengths)('encodes %i samples, with the taps of the reference', async (length) => {
      const modules = encode.taps_of_modules_at.includes(length) ? encode.encoder_modules : []
      const taps = ['encoder', 'transformer', ...modules.map((i) => `model.${i}`)]
      const encoded = await codec.encode(samples.subarray(0, length), { taps })

      const frames = Math.ceil(length / 1920)
      const { innerDim } = codec.config
      expect(encoded.shape).toEqual([frames, innerDim])
      const latents = transpose(encoded.data, frames, innerDim)
      expect(relativeL2(latents, golden(goldens, `enc.${length}.latent`).data)).toBeLessThan(wholePass)

      expect(Object.keys(encoded.taps)).toEqual(taps)
      for (const [name, tap] of Object.entries(encoded.taps)) {
        const expected = golden(goldens, `enc.${length}.${name}`)
        const columns = length === 120000 ? encode.columns_120000 : undefined
        const found = columns ? pickColumns(tap, columns) : tap
        expect(found.shape).toEqual(expected.shape)
        expect(relativeL2(found.data, expected.data), name).toBeLessThan(wholePass)
      }
    })

    test('encodes a recording for a voice', async () => {
      const { data } = await codec.encode(samples.subarray(0, 45000))
      const latents = transpose(data, 24, codec.config.innerDim)
      expect(relativeL2(latents, golden(goldens, 'clone.latent').data)).toBeLessThan(wholePass)
    })
  })
}

const pickColumns = ({ data, shape }: { data: Float32Array; shape: number[] }, columns: number[]) => {
  const [rows = 0, width = 0] = shape
  const picked = Array.from({ length: rows }, (_, row) =>
    columns.map((column) => data[row * width + column] ?? Number.NaN),
  )
  return { data: Float32Array.from(picked.flat()), shape: [rows, columns.length] }
}
