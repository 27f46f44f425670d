import { createGpuKernels } from '@pocket/kernels-wgsl'
import { record } from '@pocket/nn'

const kernels = await createGpuKernels()
const values = Float32Array.from({ length: 256 * 256 }, (_, i) => Math.sin(i) / 16)
const matrix = kernels.matrix({
  weight: { dtype: 'F32', shape: [256, 256], bytes: new Uint8Array(values.buffer) },
})
const recording = record('layer', (ops) => {
  ops.tap('y', ops.linear(ops.layerNorm(ops.input('x', 1, 256), { eps: 1e-5 }), matrix))
})
const row = { x: values.subarray(0, 256) }

const { tuning, tried } = await kernels.tune(() => {
  const stream = kernels.stream(recording, { inputs: ['x'], outputs: ['y'] })
  return {
    ready: () => stream.ready(),
    run: async () => (await stream.submit([row, row, row, row])).flatMap((taps) => Object.values(taps)),
    dispose: () => stream.dispose(),
  }
})
console.log(`cuts with other bits: ${tried.filter(({ sameBits }) => !sameBits).length}`)

// Another time, without measuring: createGpuKernels({ tuning })
console.log(`in use: ${JSON.stringify(kernels.tuning) === JSON.stringify(tuning)}`)

kernels.dispose()
