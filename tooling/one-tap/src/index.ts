import { type Kernels, type Operations, record, type StoredWeight, type Tensor } from '@pocket/nn'
import { f32ToBf16 } from '@pocket/safetensors'
import { noise } from '@tooling/fixtures'

/** A weight of noise, as a checkpoint stores it. */
export const stored = (shape: number[], seed: number, dtype: StoredWeight['dtype']): StoredWeight => {
  const values = noise(
    shape.reduce((product, size) => product * size, 1),
    seed,
  )
  return { dtype, shape, bytes: new Uint8Array(encode[dtype](values).buffer) }
}

const encode: Record<StoredWeight['dtype'], (values: Float32Array) => ArrayBufferView> = {
  F32: (values) => values,
  BF16: f32ToBf16,
  F16: (values) => new Float16Array(values),
}

/** Makes weights and states on an executor, and then describes a plan with one result. */
export type Build = (kernels: Kernels) => (ops: Operations) => Tensor

/** The result of each of `runs` runs of one plan, inputs filled anew before each. */
export const outputs = async (kernels: Kernels, build: Build, runs: number): Promise<Float32Array[]> => {
  const describePlan = build(kernels)
  const recording = record('one tap', (ops) => {
    ops.tap('out', describePlan(ops))
  })
  const plan = kernels.plan(recording)
  const results: Float32Array[] = []
  for (let run = 0; run < runs; run++) {
    let seed = 1000 * run
    for (const [name, { rows, columns }] of recording.inputs) plan.write(name, noise(rows * columns, ++seed))
    plan.run()
    results.push((await plan.read('out')).data)
  }
  plan.dispose()
  return results
}
