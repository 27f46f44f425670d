import { createCpuKernels } from '@pocket/kernels-cpu'
import { type Kernels, record } from '@pocket/nn'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type * as Digits from '../../src/wasm/digits.ts'
import { createWasmKernels } from '../../src/wasm/index.ts'
import { kernelBytes, kernelModule } from '../../src/wasm/module.ts'
import { probeSimd } from '../../src/wasm/probe.ts'
import { Runtime } from '../../src/wasm/runtime.ts'

/** Which kernel the relaxed build is to take, whatever is faster here. */
let asDigits = true
vi.mock('../../src/wasm/digits.ts', () => ({
  prefersDigits: (kernels: Runtime['kernels']) => asDigits && kernels.multipliesDigits() !== 0,
}))

const hasDigits =
  probeSimd() === 'relaxed' &&
  (await Runtime.create(await kernelModule('relaxed'))).kernels.multipliesDigits() !== 0

/** Each row and output of one size that any of the integers reaches, or of noise. */
const values = (rows: number, columns: number): fc.Arbitrary<Float32Array> =>
  fc
    .array(fc.tuple(fc.constantFrom(-1, 0, 1, 7, 91), fc.constantFrom(1, -1, 1e6)), {
      minLength: rows,
      maxLength: rows,
    })
    .map((parts) =>
      Float32Array.from(
        parts.flatMap(([seed, scale]) =>
          Array.from({ length: columns }, (_, i) => scale * (Math.abs(seed) > 1 ? Math.sin(i * seed) : seed)),
        ),
      ),
    )

const cases = fc
  .record({
    rows: fc.integer({ min: 1, max: 7 }),
    inputs: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(511, 512, 513, 1025, 2048)),
    outputs: fc.integer({ min: 1, max: 70 }),
  })
  .chain((size) =>
    fc
      .tuple(values(size.rows, size.inputs), values(size.outputs, size.inputs))
      .map(([x, w]) => ({ ...size, x, w })),
  )

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

const multiply = async (kernels: Kernels, { rows, inputs, outputs, x, w }: Case): Promise<Float32Array> => {
  const weight = { dtype: 'F32' as const, shape: [outputs, inputs], bytes: new Uint8Array(w.slice().buffer) }
  const matrix = kernels.matrix({ weight, precision: 'int8' })
  const plan = kernels.plan(
    record('digits', (ops) => {
      ops.tap('y', ops.linear(ops.input('x', rows, inputs), matrix))
    }),
  )
  plan.write('x', x)
  plan.run()
  const { data } = await plan.read('y')
  plan.dispose()
  return data
}

describe.skipIf(!hasDigits)('rows of digits', () => {
  let plain: Kernels
  let executors: Kernels[]
  beforeAll(async () => {
    plain = await createCpuKernels({ simd: 'simd', threads: 1 })
    executors = await Promise.all([1, 3].map((threads) => createWasmKernels('relaxed', threads)))
  })
  afterAll(() => {
    for (const kernels of [plain, ...executors]) kernels.dispose()
  })

  it('give the bits of rows of 16-bit integers, at any size and for any number of threads', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (test) => {
        const expected = await multiply(plain, test)
        for (const kernels of executors) {
          for (const digits of [true, false]) {
            asDigits = digits
            expect(await multiply(kernels, test)).toEqual(expected)
          }
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('the choice', () => {
  const actual = () => vi.importActual<typeof Digits>('../../src/wasm/digits.ts')

  it.skipIf(probeSimd() === 'scalar')('falls on pairs in a build without the instruction', async () => {
    const { prefersDigits } = await actual()
    const { kernels } = await Runtime.create(await kernelModule('simd'))
    expect(prefersDigits(kernels)).toBe(false)
  })

  it.skipIf(!hasDigits)('falls on pairs where the instruction computes something else', async () => {
    const { prefersDigits } = await actual()
    const bytes = await kernelBytes('relaxed')
    // i32x4.relaxed_dot_i8x16_i7x16_add_s becomes f32x4.relaxed_madd.
    let replaced = 0
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] !== 0xfd || bytes[i + 1] !== 0x93 || bytes[i + 2] !== 0x02) continue
      bytes.set([0xfd, 0x85, 0x02], i)
      replaced++
    }
    expect(replaced).toBeGreaterThan(0)
    const { kernels } = await Runtime.create(await WebAssembly.compile(bytes))
    expect(prefersDigits(kernels)).toBe(false)
  })
})
