import { KernelError, type Kernels, type Operations, record, type Tensor } from '@pocket/nn'
import { ScalarKernels } from '../scalar/kernels.ts'

/** Far above the rounding of these few sums, far below anything a wrong instruction would give. */
const tolerance = 1e-4

/**
 * Runs a few small plans on `kernels` and on the oracle, then disposes of `kernels`. Engines have shipped SIMD
 * instructions that compute wrong numbers without a word. Throws KernelError `self-test`.
 */
export const selfTest = async (kernels: Kernels): Promise<void> => {
  for (const [what, build] of Object.entries(checks)) {
    const expected = await outputOf(new ScalarKernels(), build)
    const actual = await outputOf(kernels, build)
    const worst = expected.findIndex(
      (value, i) => !(Math.abs((actual[i] ?? Number.NaN) - value) <= tolerance),
    )
    if (worst >= 0) {
      throw new KernelError(
        'self-test',
        `${kernels.name} computes ${what} wrongly on this machine: ${actual[worst]} where ${expected[worst]} is ` +
          "right. Use another level, such as simd: 'scalar'",
      )
    }
  }
  kernels.dispose()
}

type Build = (kernels: Kernels, ops: Operations) => Tensor

const checks: Record<string, Build> = {
  'a row times a bfloat16 matrix': (kernels, ops) =>
    ops.linear(ops.input('x', 1, 5), kernels.matrix({ weight: weights([37, 5]), precision: 'bf16' })),
  'a row times a matrix of integers': (kernels, ops) =>
    ops.linear(ops.input('x', 1, 13), kernels.matrix({ weight: weights([37, 13]), precision: 'int8' })),
  'rows times a matrix of 8-bit integers': (kernels, ops) =>
    ops.linear(ops.input('x', 5, 13), kernels.matrix({ weight: weights([37, 13]), precision: 'int8' })),
  'rows times a matrix of integers': (kernels, ops) =>
    ops.linear(ops.input('x', 5, 9), kernels.matrix({ weight: weights([19, 9]), precision: 'int16' })),
  'rows times a matrix': (kernels, ops) =>
    ops.linear(ops.input('x', 5, 7), kernels.matrix({ weight: weights([19, 7]) }), { activation: 'gelu' }),
  'a norm': (_, ops) => ops.layerNorm(ops.input('x', 2, 13), { eps: 1e-5 }),
  attention: (kernels, ops) => {
    const cache = kernels.kvCache({ heads: 1, headDim: 4, capacity: 12, maxPeriod: 100 })
    return ops.attention(ops.input('x', 11, 12), cache)
  },
  'a convolution': (kernels, ops) => {
    const convolution = kernels.convolution({ weight: weights([6, 3, 3]) })
    const state = kernels.convolutionState(convolution)
    return ops.convolution(ops.input('x', 5, 3), convolution, state, { inputActivation: 'elu' })
  },
}

const outputOf = async (kernels: Kernels, build: Build): Promise<Float32Array> => {
  const recording = record('self-test', (ops) => {
    ops.tap('out', build(kernels, ops))
  })
  const plan = kernels.plan(recording)
  for (const [name, { rows, columns }] of recording.inputs) plan.write(name, values(rows * columns))
  plan.run()
  return (await plan.read('out')).data
}

/** Values between −1 and 1 that repeat late and are exact in bfloat16. */
const values = (length: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => (((i * 37) % 101) - 50) / 64)

const weights = (shape: number[]) => ({
  dtype: 'F32' as const,
  shape,
  bytes: new Uint8Array(values(shape.reduce((product, size) => product * size, 1)).buffer),
})
