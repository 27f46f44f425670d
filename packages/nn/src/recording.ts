import { KernelError } from './errors.ts'
import type { Operation } from './operation.ts'
import { Operations } from './operations.ts'
import type { Tensor } from './tensor.ts'

/** A forward pass as data: what the networks describe once and every executor runs. */
export interface Recording {
  readonly label: string
  readonly operations: readonly Operation[]
  /** Written from outside before a run. */
  readonly inputs: ReadonlyMap<string, Tensor>
  /** Readable after a run. Never views. */
  readonly taps: ReadonlyMap<string, Tensor>
}

/** Records what `describe` does. Runs it once; nothing is computed. */
export const record = (label: string, describe: (ops: Operations) => void): Recording => {
  const operations: Operation[] = []
  const inputs = new Map<string, Tensor>()
  const taps = new Map<string, Tensor>()
  describe(new Operations(operations, inputs, taps))
  for (const name of taps.keys()) {
    if (inputs.has(name)) throw new KernelError('shape', `plan ${label}: ${name} is an input and a tap`)
  }
  return { label, operations, inputs, taps }
}
