import { createCpuKernels } from '@pocket/kernels-cpu'
import { record } from '@pocket/nn'

const kernels = await createCpuKernels()

// Weights are packed once: here a layer of 256 → 1024 → 256, as float32 bytes; BF16 bytes stay BF16.
const weight = (outputs: number, inputs: number) => {
  const values = Float32Array.from({ length: outputs * inputs }, (_, i) => Math.sin(i) / Math.sqrt(inputs))
  return { dtype: 'F32' as const, shape: [outputs, inputs], bytes: new Uint8Array(values.buffer) }
}
const up = kernels.matrix({ weight: weight(1024, 256) })
const down = kernels.matrix({ weight: weight(256, 1024), precision: 'bf16' })

// The forward pass is recorded once, bound to memory once, and run as often as you like.
const plan = kernels.plan(
  record('feed forward', (ops) => {
    const x = ops.input('x', 16, 256)
    const inner = ops.linear(ops.layerNorm(x, { eps: 1e-5 }), up, { activation: 'gelu' })
    ops.tap('y', ops.linear(inner, down, { residual: x }))
  }),
)
plan.write(
  'x',
  new Float32Array(16 * 256).map((_, i) => Math.cos(i)),
)
plan.run()
const { data, shape } = await plan.read('y')
console.log(`[${shape}], the first is ${data[0]?.toFixed(3)}`)

kernels.dispose()
