import type { Dtype } from './dtype.ts'
import { quote, SafeTensorsError } from './error.ts'

/** What the header says of one tensor; `begin` and `end` count bytes from the start of the data. */
export interface TensorEntry {
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly begin: number
  readonly end: number
}

/** What is known of a tensor without reading it. */
export interface TensorInfo {
  readonly dtype: Dtype
  /** Sizes, outermost first; `[]` for a scalar. The caller's own copy. */
  readonly shape: number[]
  readonly byteLength: number
}

const namesInMessage = 3

/** A checked header: which tensors a file holds, and where. Everything here is known without their data. */
export class TensorIndex {
  /** `__metadata__`, frozen and without a prototype, so that `constructor` is absent unless the file says so. */
  readonly metadata: Readonly<Record<string, string>>
  /** Where the data begins in the file. */
  readonly dataBegin: number
  readonly #entries: ReadonlyMap<string, TensorEntry>

  /** `entries` in the order of their data. */
  constructor(
    entries: ReadonlyMap<string, TensorEntry>,
    metadata: Readonly<Record<string, string>>,
    dataBegin: number,
  ) {
    this.#entries = entries
    this.metadata = metadata
    this.dataBegin = dataBegin
  }

  names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  info(name: string): TensorInfo {
    const { dtype, shape, begin, end } = this.entry(name)
    return { dtype, shape: [...shape], byteLength: end - begin }
  }

  /** Throws `unknown-tensor` for a name that is not there. */
  entry(name: string): TensorEntry {
    const entry = this.#entries.get(name)
    if (entry) return entry
    const some = [...this.#entries.keys()].slice(0, namesInMessage).map(quote)
    const there =
      some.length === 0 ? 'none at all' : `${this.#entries.size}, such as ${some.join(', ')}: see names()`
    throw new SafeTensorsError('unknown-tensor', `there is no tensor ${quote(name)}: the file holds ${there}`)
  }
}
