import { createGpuKernels } from '@pocket/kernels-wgsl'
import { type Precision, record } from '@pocket/nn'
import { relativeL2 } from '@tooling/fixtures'
import { describeOnGpu, gpuVariants } from '@tooling/fixtures/gpu'
import { expect, it } from 'vitest'

const [outputs, inputs, rows] = [10, 70, 3]

/** Multiples of 2⁻⁷ up to 127 of them, one of which is in each row: eight bits hold them without a loss. */
const weight = Float32Array.from({ length: outputs * inputs }, (_, index) =>
  index % inputs === 5 ? -127 / 128 : (((index * 37) % 255) - 127) / 128,
)
const bias = Float32Array.from({ length: outputs }, (_, index) => index / 4)

await describeOnGpu(
  'weights of eight bits',
  createGpuKernels,
  (kernels) => {
    it('are multiplied as what they stand for', async () => {
      const product = async (precision: Precision): Promise<Float32Array> => {
        const matrix = kernels().matrix({
          weight: { dtype: 'F32', shape: [outputs, inputs], bytes: new Uint8Array(weight.buffer) },
          bias,
          precision,
        })
        const recording = record('product', (ops) => {
          ops.tap('y', ops.linear(ops.input('x', rows, inputs), matrix))
        })
        const plan = kernels().plan(recording)
        plan.write(
          'x',
          Float32Array.from({ length: rows * inputs }, (_, index) => Math.sin(index)),
        )
        plan.run()
        return (await plan.read('y')).data
      }
      expect(relativeL2(await product('int8'), await product('f32'))).toBeLessThan(1e-6)
    })
  },
  gpuVariants.slice(0, 1),
)
