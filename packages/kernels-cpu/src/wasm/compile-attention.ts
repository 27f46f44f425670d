import { fillRotations, type Operation } from '@pocket/nn'
import { type Binding, ownedState, place, type Step } from './binding.ts'
import { fieldAddress, attention as fields, writeDescriptor } from './descriptors.ts'
import { unitRowsOf } from './program.ts'
import { WasmKvCache } from './states.ts'

type Attention = Extract<Operation, { kind: 'attention' }>

export const attention = ({ qkv, out, cache: handle }: Attention, binding: Binding): Step => {
  const cache = ownedState(handle, binding, WasmKvCache)
  const { heads, headDim, frequencies } = cache
  const shared = cache.sharedMemory
  const { runtime, descriptors: descriptor, table } = binding
  const { rows } = qkv
  const input = place(qkv, binding)
  const output = place(out, binding)
  const rotations = new Float32Array(rows * headDim)
  const width = heads * headDim
  const load = 2 * rows * width * mostPositions(cache)
  const unitRows = unitRowsOf(rows, heads, load, runtime.threads)
  writeDescriptor(runtime, descriptor, fields, {
    qkv: input.address,
    qkvStride: input.stride,
    rows,
    unitRows,
    heads,
    headDim,
    keys: cache.keys,
    values: cache.values,
    slots: cache.slots,
    shared: cache.shared,
    sharedKeys: shared.keys,
    sharedValues: shared.values,
    sharedSlots: shared.slots,
    window: cache.window ?? 0,
    position: 0,
    rotations: table,
    scale: 1 / Math.sqrt(headDim),
    out: output.address,
    outStride: output.stride,
  })
  const position = fieldAddress(descriptor, fields, 'position') / 4
  return {
    work: [
      { kernel: 'append', descriptor, units: rows, load: rows * width * loadOfKey },
      { kernel: 'attend', descriptor, units: heads * Math.ceil(rows / unitRows), load },
    ],
    prepare() {
      // Cosines and sines are the host's: their angles have to be rounded as the reference rounds them.
      fillRotations(rotations, frequencies, cache.position, rows)
      runtime.floats.set(rotations, table / 4)
      runtime.words[position] = cache.position
      cache.advance(rows)
    },
  }
}

/** A value of a key is turned, and stored far from its neighbour. */
const loadOfKey = 8

/** Positions that a row attends to. */
const mostPositions = ({ window, capacity }: Attention['cache']): number =>
  Math.min(window ?? capacity, capacity)

/** Float32 values of an attention's table: cosine and sine of each pair, for every row. */
export const attentionTable = ({ qkv, cache }: Attention): number => qkv.rows * cache.headDim

/** Float32 values of a thread's scratch: a query and the weights of one row. */
export const attentionScratch = ({ cache }: Attention): number =>
  // A ring's window lies in two runs of slots at most, each in whole blocks of eight: up to 14 more for either.
  cache.headDim + mostPositions(cache) + 32
