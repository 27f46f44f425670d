import type { MimiCodec } from '@pocket/mimi'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { tinyCodec, wave } from './checkpoints.ts'
import { describeOnEveryLevel } from './levels.ts'

const frameSize = 1920
const latentDim = 32
/** Enough for the 250 positions of the window to be passed, at 16 a frame. */
const frames = 18

const latentSequence = (length: number) =>
  fc
    .array(fc.double({ min: -2, max: 2, noNaN: true }), {
      minLength: length * latentDim,
      maxLength: length * latentDim,
    })
    .map((values) => Float32Array.from(values))

/** `count` cut into pieces, some of them empty. */
const pieces = (count: number) =>
  fc
    .array(fc.nat({ max: count }), { maxLength: 12 })
    .map((cuts) => [0, ...cuts.sort((a, b) => a - b), count])
    .map((edges) => edges.slice(1).map((end, i) => ({ begin: edges[i] ?? 0, end })))

const concatenate = (parts: Float32Array[]) => Float32Array.from(parts.flatMap((part) => [...part]))

describeOnEveryLevel('a stream', (kernels) => {
  const runs = { numRuns: kernels.simd === 'scalar' ? 2 : 15 }
  const samples = wave()
  let codec: MimiCodec
  beforeAll(async () => {
    codec = await tinyCodec('tiny-24l', kernels)
  })
  const decodeWhole = (latents: Float32Array) => codec.createDecoder().decode(latents)

  test('of latents decodes alike, however it is cut', () =>
    fc.assert(
      fc.asyncProperty(latentSequence(frames), pieces(frames), async (latents, cuts) => {
        const decoder = codec.createDecoder()
        const parts: Float32Array[] = []
        for (const { begin, end } of cuts) {
          parts.push(await decoder.decode(latents.subarray(begin * latentDim, end * latentDim)))
        }
        expect(concatenate(parts)).toEqual(await decodeWhole(latents))
      }),
      runs,
    ))

  test('of samples encodes alike, however it is cut', () => {
    const length = fc.integer({ min: 1, max: frames * frameSize })
    const recording = length.chain((n) => fc.tuple(fc.constant(samples.subarray(0, n)), pieces(n)))
    return fc.assert(
      fc.asyncProperty(recording, async ([pcm, cuts]) => {
        const encoder = codec.createEncoder()
        const parts: Float32Array[] = []
        for (const { begin, end } of cuts) parts.push((await encoder.encode(pcm.subarray(begin, end))).data)
        parts.push((await encoder.flush()).data)
        expect(concatenate(parts)).toEqual((await codec.encode(pcm)).data)
      }),
      runs,
    )
  })

  test('never lets later latents change earlier samples', () =>
    fc.assert(
      fc.asyncProperty(
        latentSequence(6),
        latentSequence(6),
        fc.integer({ min: 1, max: 5 }),
        async (one, other, changed) => {
          const mixed = one.slice()
          mixed.set(other.subarray(changed * latentDim), changed * latentDim)
          const before = changed * frameSize
          expect((await decodeWhole(mixed)).subarray(0, before)).toEqual(
            (await decodeWhole(one)).subarray(0, before),
          )
        },
      ),
      runs,
    ))

  test('never lets later samples change earlier latents', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: frameSize, max: 6 * frameSize - 1 }), async (changed) => {
        const pcm = samples.slice(0, 6 * frameSize)
        const before = Math.floor(changed / frameSize) * codec.config.innerDim
        const { data } = await codec.encode(pcm)
        pcm.fill(0.5, changed)
        const { data: altered } = await codec.encode(pcm)
        expect(altered.subarray(0, before)).toEqual(data.subarray(0, before))
        expect(altered).not.toEqual(data)
      }),
      runs,
    ))

  test('begins anew after reset and after flush', () =>
    fc.assert(
      fc.asyncProperty(latentSequence(3), latentSequence(3), async (first, second) => {
        const decoder = codec.createDecoder()
        await decoder.decode(first)
        decoder.reset()
        expect(await decoder.decode(second)).toEqual(await decodeWhole(second))

        const encoder = codec.createEncoder()
        const fresh = (await codec.encode(samples.subarray(0, 2 * frameSize))).data
        await encoder.encode(samples.subarray(5000, 9000))
        encoder.reset()
        expect((await encoder.encode(samples.subarray(0, 2 * frameSize))).data).toEqual(fresh)
        await encoder.encode(samples.subarray(0, 100))
        await encoder.flush()
        expect((await encoder.encode(samples.subarray(0, 2 * frameSize))).data).toEqual(fresh)
      }),
      runs,
    ))

  test('is not touched by another of the same codec', () =>
    fc.assert(
      fc.asyncProperty(
        latentSequence(4),
        latentSequence(4),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        async (one, other, turns) => {
          const streams = [one, other].map((latents) => ({
            latents,
            decoder: codec.createDecoder(),
            next: 0,
            parts: [] as Promise<Float32Array>[],
          }))
          for (const turn of turns) {
            const stream = streams[turn ? 1 : 0]
            if (!stream || stream.next === 4) continue
            const begin = stream.next++ * latentDim
            // Not awaited: the two streams' frames run in whatever order the queues give.
            stream.parts.push(stream.decoder.decode(stream.latents.subarray(begin, begin + latentDim)))
          }
          for (const { latents, next, parts } of streams) {
            expect(concatenate(await Promise.all(parts))).toEqual(
              await decodeWhole(latents.subarray(0, next * latentDim)),
            )
          }
        },
      ),
      runs,
    ))
})
