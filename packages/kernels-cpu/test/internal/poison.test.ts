import { type Kernels, type Operations, record, type Tensor } from '@pocket/nn'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WasmKernels } from '../../src/wasm/kernels.ts'
import { kernelModule, type WasmLevel } from '../../src/wasm/module.ts'
import { Runtime } from '../../src/wasm/runtime.ts'
import { levels } from '../levels.ts'

/**
 * Memory that was never written holds NaN here instead of zeros: a kernel that reads past its rows, or a slot of a
 * cache that is empty, cannot hide. Blocks are also surrounded: whatever a plan writes outside of itself is seen.
 */
const poisoned = async (level: WasmLevel) => {
  const runtime = await Runtime.create(await kernelModule(level))
  const begin = runtime.allocate(1, 'the first byte after the constants of the kernels')
  runtime.floats.fill(Number.NaN, begin / 4)
  return { runtime, kernels: new WasmKernels('poisoned', runtime) }
}

const ones = (shape: number[]) => {
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(1)
  return { dtype: 'F32' as const, shape, bytes: new Uint8Array(values.buffer) }
}

const run = async (
  level: WasmLevel,
  runs: number,
  describePlan: (on: Kernels) => (ops: Operations) => Tensor,
) => {
  const { runtime, kernels } = await poisoned(level)
  const build = describePlan(kernels)
  const before = runtime.allocate(4096, 'a fence')
  const recording = record('poisoned', (ops) => {
    ops.tap('out', build(ops))
  })
  const plan = kernels.plan(recording)
  const after = runtime.allocate(4096, 'a fence')
  for (const fence of [before, after]) runtime.words.fill(0xdecafbad, fence / 4, fence / 4 + 1024)
  for (let i = 0; i < runs; i++) {
    for (const [name, { rows, columns }] of recording.inputs) {
      plan.write(name, new Float32Array(rows * columns).fill(0.5))
    }
    plan.run()
    const { data } = await plan.read('out')
    expect(data.every(Number.isFinite), `run ${i}: ${data}`).toBe(true)
  }
  for (const fence of [before, after]) {
    expect(runtime.words.subarray(fence / 4, fence / 4 + 1024).every((word) => word === 0xdecafbad)).toBe(
      true,
    )
  }
}

const size = (max: number) => fc.integer({ min: 1, max })
const numRuns = 40

describe.each(levels.filter(({ level }) => level !== 'scalar'))('in poisoned memory, $title', (entry) => {
  const test = it.skipIf(entry.missing)
  const level = entry.level as WasmLevel

  test('a product reads its weights and rows, and nothing else', async () => {
    const precision = fc.constantFrom('bf16' as const, 'f32' as const, 'int8' as const, 'int16' as const)
    await fc.assert(
      fc.asyncProperty(size(9), size(40), size(40), precision, async (rows, inputs, outputs, precision) => {
        await run(level, 1, (on) => {
          const matrix = on.matrix({
            weight: ones([outputs, inputs]),
            bias: new Float32Array(outputs),
            precision,
          })
          const scale = on.vector(new Float32Array(outputs).fill(1))
          return (ops) => ops.linear(ops.input('x', rows, inputs), matrix, { scale, activation: 'silu' })
        })
      }),
      { numRuns },
    )
  })

  test('attention reads only positions that it attends to', async () => {
    const geometry = fc.record({
      heads: size(3),
      headDim: fc.constantFrom(2, 6, 8, 32, 36),
      rows: size(7),
      window: fc.option(size(20), { nil: undefined }),
      spare: fc.nat({ max: 9 }),
    })
    await fc.assert(
      fc.asyncProperty(geometry, async ({ heads, headDim, rows, window, spare }) => {
        const capacity = (window === undefined ? 5 * rows : window + rows) + spare
        await run(level, 5, (on) => {
          const options = { heads, headDim, capacity, maxPeriod: 10000 }
          const cache = on.kvCache(window === undefined ? options : { ...options, window })
          return (ops) => ops.attention(ops.input('qkv', rows, 3 * heads * headDim), cache)
        })
      }),
      { numRuns },
    )
  })

  test('a convolution reads its window and its weights', async () => {
    const geometry = fc.record({ inputs: size(20), outputs: size(20), kernel: size(5), rows: size(9) })
    await fc.assert(
      fc.asyncProperty(geometry, size(2), async ({ inputs, outputs, kernel, rows }, dilation) => {
        await run(level, 2, (on) => {
          const weights = on.convolution({ weight: ones([outputs, inputs, kernel]), dilation })
          const state = on.convolutionState(weights)
          return (ops) => ops.convolution(ops.input('x', rows, inputs), weights, state)
        })
      }),
      { numRuns },
    )
  })

  test('a transposed convolution, full or depthwise, reads its window and its weights', async () => {
    const geometry = fc.record({
      inputs: size(20),
      outputs: size(20),
      stride: size(5),
      taps: size(3),
      rows: size(5),
    })
    await fc.assert(
      fc.asyncProperty(geometry, fc.boolean(), async ({ inputs, outputs, stride, taps, rows }, depthwise) => {
        await run(level, 2, (on) => {
          const shape = [inputs, depthwise ? 1 : outputs, stride * taps]
          const weights = on.transposedConvolution({ weight: ones(shape), stride, depthwise })
          const state = on.convolutionState(weights)
          return (ops) => ops.transposedConvolution(ops.input('x', rows, inputs), weights, state)
        })
      }),
      { numRuns },
    )
  })

  test('norms and sums read their rows', async () => {
    await fc.assert(
      fc.asyncProperty(size(5), fc.integer({ min: 2, max: 40 }), async (rows, columns) => {
        await run(level, 1, (on) => {
          const vector = on.vector(new Float32Array(columns).fill(1))
          return (ops) => {
            const x = ops.addVector(ops.input('x', rows, columns), vector, 'gelu')
            return ops.layerNorm(x, { weight: vector, bias: vector, eps: 1e-5 })
          }
        })
      }),
      { numRuns },
    )
  })
})
