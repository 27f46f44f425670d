import { performance } from 'node:perf_hooks'
import { bf16ToF32, f16ToF32, f32ToBf16 } from '../src/half-precision.ts'
import { SafeTensors } from '../src/safe-tensors.ts'
import { writeSafeTensors } from '../src/write.ts'

// A matrix of the size that Pocket TTS loads most of: 1024 × 4096. The result is allocated in the time.
const count = 1024 * 4096
const patterns = Uint16Array.from({ length: count }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 16) & 0x7bff)
const values = bf16ToF32(patterns)
const file = writeSafeTensors({ x: { dtype: 'BF16', shape: [1024, 4096], data: patterns } })

const many: Parameters<typeof writeSafeTensors>[0] = Object.fromEntries(
  Array.from({ length: 10_000 }, (_, i) => [
    `layers.${i}.weight`,
    { dtype: 'U8', shape: [1, 4], data: new Uint8Array(4) },
  ]),
)
const manyFile = writeSafeTensors(many)

/** The best of 30 rounds, in milliseconds: the others measure what else the machine does. */
const best = (work: () => unknown): number => {
  let fastest = Number.POSITIVE_INFINITY
  for (let round = 0; round < 30; round++) {
    const begin = performance.now()
    work()
    fastest = Math.min(fastest, performance.now() - begin)
  }
  return fastest
}

const gigabytes = (bytes: number, work: () => unknown): string =>
  `${(bytes / best(work) / 1e6).toFixed(2)} GB/s`

console.table({
  'BF16 to float32 (bytes out)': gigabytes(4 * count, () => bf16ToF32(patterns)),
  'F16 to float32 (bytes out)': gigabytes(4 * count, () => f16ToF32(patterns)),
  'float32 to BF16 (bytes in)': gigabytes(4 * count, () => f32ToBf16(values)),
  'open a file of 10,000 tensors': `${best(() => SafeTensors.fromBytes(manyFile)).toFixed(1)} ms`,
  'open a file of one tensor, 8 MB': `${best(() => SafeTensors.fromBytes(file)).toFixed(3)} ms`,
})
