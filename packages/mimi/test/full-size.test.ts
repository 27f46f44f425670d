import type { MimiCodec, MimiDecoder } from '@pocket/mimi'
import { readGoldens, readJson, relativeL2, transpose } from '@tooling/fixtures'
import { beforeAll, expect, test } from 'vitest'
import { fullSizeCodec, golden, wave } from './checkpoints.ts'
import { describeOnEveryLevel } from './levels.ts'
import { wholePass } from './tolerances.ts'

const goldens = readGoldens('full/golden-english_2026-04.safetensors')
const { encoder_columns: columns } = readJson<{ encoder_columns: number[] }>(
  'full/golden-english_2026-04.json',
)
const samples = wave().subarray(0, 24000)
const latentsOf = (name: string) => golden(goldens, name).data

describeOnEveryLevel('real geometry', (kernels) => {
  // The oracle needs seconds a frame at this size, so it does the first frames only: enough for every shape.
  const isOracle = kernels.simd === 'scalar'
  let codec: MimiCodec
  beforeAll(async () => {
    codec = await fullSizeCodec(kernels)
  })

  const expectTaps = async (decoder: MimiDecoder, frame: number) => {
    for (const name of ['quantizer', 'upsample', 'transformer', 'model.0']) {
      const { data } = await decoder.tap(name)
      expect(relativeL2(data, golden(goldens, `dec.f${frame}.${name}`).data), name).toBeLessThan(wholePass)
    }
  }

  test('sizes', () => {
    expect(codec.config).toMatchObject({ frameSize: 1920, frameRate: 12.5, dModel: 512, latentDim: 32 })
    expect(codec.canEncode).toBe(true)
  })

  test('decodes, with the taps of the reference', { timeout: 300_000 }, async () => {
    const latents = latentsOf('dec.latents')
    const decoder = codec.createDecoder()
    const frames = isOracle ? 1 : 5
    const pcm: number[] = []
    for (let frame = 0; frame < frames; frame++) {
      pcm.push(...(await decoder.decode(latents.subarray(frame * 32, (frame + 1) * 32))))
      if (frame < 2) await expectTaps(decoder, frame)
    }
    const expected = golden(goldens, 'dec.pcm').data.subarray(0, frames * 1920)
    expect(relativeL2(pcm, expected)).toBeLessThan(wholePass)
  })

  test('encodes, with the taps of the reference', { timeout: 300_000 }, async () => {
    const frames = isOracle ? 1 : 13
    const { data, taps } = await codec.encode(samples.subarray(0, frames * 1920), { taps: ['encoder'] })
    const expected = firstColumns(golden(goldens, 'enc.latent'), frames)
    expect(relativeL2(transpose(data, frames, 32), expected)).toBeLessThan(wholePass)

    const goldenColumns = golden(goldens, 'enc.encoder.columns')
    columns.forEach((column, index) => {
      if (column >= frames * 16) return
      const actual = columnOf(taps.encoder, column)
      expect(relativeL2(actual, columnOf(goldenColumns, index)), `column ${column}`).toBeLessThan(wholePass)
    })
  })

  if (!isOracle) {
    test('decodes past the window', async () => {
      const pcm = await codec.createDecoder().decode(latentsOf('dec18.latents'), 18)
      expect(relativeL2(pcm.subarray(16 * 1920), latentsOf('dec18.pcm_tail'))).toBeLessThan(wholePass)
    })
  }
})

interface Columns {
  data: Float32Array
  shape: number[]
}

const columnOf = (array: Columns | undefined, column: number): number[] => {
  const { data = new Float32Array(0), shape: [rows = 0, width = 0] = [] } = array ?? {}
  return Array.from({ length: rows }, (_, row) => data[row * width + column] ?? Number.NaN)
}

const firstColumns = ({ data, shape: [rows = 0, width = 0] }: Columns, count: number): number[] =>
  Array.from({ length: rows }, (_, row) => [...data.subarray(row * width, row * width + count)]).flat()
