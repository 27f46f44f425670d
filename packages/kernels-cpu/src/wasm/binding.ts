import { isTensor, KernelError, type Layout, type Tensor, type Vector } from '@pocket/nn'
import type { Work } from './program.ts'
import type { Runtime } from './runtime.ts'
import type { WasmVector } from './weights.ts'

/** One operation with all addresses bound: running it takes no decision and no memory. */
export interface Step {
  /** What the kernels are to do, in order. */
  readonly work: readonly Work[]
  /** What the host does before each run of the plan, such as filling in positions. */
  readonly prepare?: () => void
}

/** What a plan has laid out for one of its operations. */
export interface Binding {
  readonly runtime: Runtime
  readonly layout: Layout
  /** Address of the layout's first value. */
  readonly address: number
  /** Where the operation's descriptors go; see `descriptorBytes`. */
  readonly descriptors: number
  /** Where its table goes, which keeps its content from `prepare` to the end of the run; see `needsOf`. */
  readonly table: number
}

/** Float32 values that an operation needs beside its tensors. */
export interface Needs {
  /** While it runs, for all threads. */
  readonly shared?: number
  /** While it runs, for each thread. */
  readonly scratch?: number
  /** From the beginning of a run. */
  readonly table?: number
}

export interface Rows {
  /** Of the first value. */
  readonly address: number
  /** From row to row, in bytes. */
  readonly stride: number
}

/** What an address of 0 says to a kernel. */
export const nothing: Rows = { address: 0, stride: 0 }

/** Where a tensor lies. */
export const place = (tensor: Tensor | undefined, { layout, address }: Binding): Rows => {
  if (!tensor) return nothing
  const { offset, rowStride } = layout.place(tensor)
  return { address: address + offset * 4, stride: rowStride * 4 }
}

/** A factor of every value: a tensor's own, or a vector's in every row. A number needs no memory. */
export const placeFactor = (factor: number | Vector | Tensor, binding: Binding): Rows => {
  if (typeof factor === 'number') return nothing
  return isTensor(factor) ? place(factor, binding) : { address: addressOf(factor, binding), stride: 0 }
}

export const addressOf = (vector: Vector | undefined, binding: Binding): number =>
  vector ? owned<WasmVector>(vector, binding, 'vector').address : 0

/** A handle as what this executor made of it. Throws KernelError `unavailable` for one of another executor. */
export const owned = <Handle extends { readonly runtime: Runtime }>(
  handle: Partial<Handle>,
  { runtime }: Binding,
  what: string,
): Handle => {
  if (handle.runtime !== runtime) throw foreign(what)
  return handle as Handle
}

/** The same for states, which are classes. */
export const ownedState = <State extends { readonly runtime: Runtime }>(
  state: object,
  { runtime }: Binding,
  type: abstract new (...parameters: never[]) => State,
): State => {
  if (!(state instanceof type) || state.runtime !== runtime) throw foreign('state')
  return state
}

const foreign = (what: string): KernelError =>
  new KernelError('unavailable', `a ${what} of another executor; make it with the one that makes the plan`)
