import { createGpuKernels } from '@pocket/kernels-wgsl'
import { record } from '@pocket/nn'

const kernels = await createGpuKernels()

// Weights go to the device once: here a layer of 256 → 1024 → 256, as float32 bytes; BF16 and F16 bytes stay so.
const weight = (outputs: number, inputs: number) => {
  const values = Float32Array.from({ length: outputs * inputs }, (_, i) => Math.sin(i) / Math.sqrt(inputs))
  return { dtype: 'F32' as const, shape: [outputs, inputs], bytes: new Uint8Array(values.buffer) }
}
const up = kernels.matrix({ weight: weight(1024, 256) })
const down = kernels.matrix({ weight: weight(256, 1024), precision: 'bf16' })

const recording = record('feed forward', (ops) => {
  const x = ops.input('x', 1, 256)
  const inner = ops.linear(ops.layerNorm(x, { eps: 1e-5 }), up, { activation: 'gelu' })
  ops.tap('y', ops.linear(inner, down, { residual: x }))
})

// A plan runs once per call. A stream replays: here four runs in one submission, each on what the last one gave.
const stream = kernels.stream(recording, { feedback: { x: 'y' }, inputs: [], outputs: ['y'] })
stream.write(
  'x',
  new Float32Array(256).map((_, i) => Math.cos(i)),
)
const runs = await stream.submit([{}, {}, {}, {}])
console.log(`${stream.dispatches} dispatches a run`)
console.log(runs.map(({ y }) => y?.[0]?.toFixed(3)).join(' '))

kernels.dispose()
