import { layOut, record } from '@pocket/nn'

// Weights are handles that an executor makes; a recording only needs their sizes.
const up = { outputs: 1024, inputs: 256 }
const down = { outputs: 256, inputs: 1024 }

const recording = record('feed forward', (ops) => {
  const x = ops.input('x', 16, 256)
  const inner = ops.linear(ops.layerNorm(x, { eps: 1e-5 }), up, { activation: 'gelu' })
  ops.tap('y', ops.linear(inner, down, { residual: x }))
})

for (const { kind, out } of recording.operations) console.log(`${kind} → [${out.rows}, ${out.columns}]`)
console.log(`${(layOut(recording).length * 4) / 1024} KiB of memory`)
