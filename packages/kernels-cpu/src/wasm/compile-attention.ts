import { fillRotations, type Operation } from '@pocket/nn'
import { type Binding, ownedState, place, type Step } from './binding.ts'
import { attention as fields, writeDescriptor } from './descriptors.ts'
import { WasmKvCache } from './states.ts'

type Attention = Extract<Operation, { kind: 'attention' }>

export const attention = (operation: Attention, binding: Binding): Step => {
  const { qkv, out } = operation
  const cache = ownedState(operation.cache, binding, WasmKvCache)
  const { heads, headDim, capacity, frequencies } = cache
  const { runtime, descriptors: address } = binding
  const input = place(qkv, binding)
  const output = place(out, binding)
  const scratch = attentionScratch(operation)
  const first = binding.address / 4 + binding.layout.scratch(operation)
  const rotations = new Float32Array(qkv.rows * headDim)
  writeDescriptor(runtime, address, fields, {
    qkv: input.address,
    qkvStride: input.stride,
    rows: qkv.rows,
    heads,
    headDim,
    keys: cache.keys,
    values: cache.values,
    slots: capacity,
    window: cache.window ?? 0,
    rotations: (first + scratch.rotations) * 4,
    scale: 1 / Math.sqrt(headDim),
    query: (first + scratch.query) * 4,
    scores: (first + scratch.scores) * 4,
    out: output.address,
    outStride: output.stride,
  })
  return (kernels) => {
    const { position } = cache
    // Cosines and sines are the host's: their angles have to be rounded as the reference rounds them.
    fillRotations(rotations, frequencies, position, qkv.rows)
    runtime.floats.set(rotations, first + scratch.rotations)
    kernels.append(address, position)
    kernels.attend(address, position, 0, heads)
    cache.advance(qkv.rows)
  }
}

/** The parts of an attention's scratch, in float32 values, and its length. */
export const attentionScratch = ({ qkv, cache }: Attention) => {
  const query = qkv.rows * cache.headDim
  const scores = query + cache.headDim
  const positions = Math.min(cache.window ?? cache.capacity, cache.capacity)
  // A ring's window lies in two runs of slots at most, each in whole blocks of eight: up to 14 more for either.
  return { rotations: 0, query, scores, length: scores + positions + 32 }
}
