import { PocketTts, type Voice } from '@pocket/tts'
import { readTensorFile } from '@tooling/fixtures'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fastest } from './support/levels.ts'
import { tinyParts } from './support/tiny.ts'

let tts: PocketTts
beforeAll(async () => {
  tts = await PocketTts.load(tinyParts, { simd: fastest })
})
afterAll(() => tts.dispose())

/** By their bits: −0 and 0 differ. */
const bitsOf = (values: Float32Array): number[] => [
  ...new Uint32Array(values.buffer, values.byteOffset, values.length),
]

const layersOf = ({ kv }: Voice) => kv.layers.map(({ k, v }) => ({ k: bitsOf(k), v: bitsOf(v) }))

/** Finite floats of every kind: without one bit of the exponent no pattern is infinite or NaN. */
const floats = (length: number): fc.Arbitrary<Float32Array> =>
  fc
    .uint32Array({ minLength: length, maxLength: length })
    .map((bits) => new Float32Array(bits.map((word) => word & ~0x00800000).buffer))

/** Any voice that fits the model. */
const voices = (): fc.Arbitrary<Voice> => {
  const { layers, heads, headDim } = tts.flowLm.config
  return fc.nat(5).chain((positions) => {
    const values = floats(positions * heads * headDim)
    const layer = fc.record({ k: values, v: values })
    return fc
      .array(layer, { minLength: layers, maxLength: layers })
      .map((all) => ({ kv: { positions, heads, headDim, layers: all } }))
  })
}

describe('a voice that is exported', () => {
  test('comes back bit for bit', () =>
    fc.assert(
      fc.asyncProperty(voices(), async (voice) => {
        const again = await tts.loadVoice(tts.exportVoice(voice))
        expect(again).toMatchObject({ modelId: 'tiny-2026-04', kv: { positions: voice.kv.positions } })
        expect(layersOf(again)).toEqual(layersOf(voice))
      }),
      { numRuns: 30 },
    ))

  test('is what another reader expects, name by name and bit for bit', () =>
    fc.assert(
      fc.property(voices(), (voice) => {
        const { positions, heads, headDim, layers } = voice.kv
        const { metadata, tensors } = readTensorFile(tts.exportVoice(voice))
        expect(metadata).toEqual({ 'pocket.model': 'tiny-2026-04', 'pocket.sha256': tts.config.sha256 })
        expect(tensors.size).toBe(2 * layers.length)
        for (const [layer, { k, v }] of layers.entries()) {
          const cache = tensors.get(`transformer.layers.${layer}.self_attn/cache`)!
          expect(cache).toMatchObject({ dtype: 'F32', shape: [2, 1, positions, heads, headDim] })
          expect([...new Uint32Array(cache.bytes.buffer)]).toEqual([...bitsOf(k), ...bitsOf(v)])
          const offset = tensors.get(`transformer.layers.${layer}.self_attn/offset`)!
          expect(offset).toMatchObject({ dtype: 'I64', shape: [1] })
          expect([...new BigInt64Array(offset.bytes.buffer)]).toEqual([BigInt(positions)])
        }
      }),
      { numRuns: 30 },
    ))
})
