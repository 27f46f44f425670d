import { KernelError } from './errors.ts'
import type { Recording } from './recording.ts'
import type { KvCache } from './states.ts'
import type { Tensor } from './tensor.ts'

/** Linear caches that a recording extends, and by how many positions a run does so. */
export const linearCaches = (recording: Recording): { cache: KvCache; rows: number }[] =>
  recording.operations.flatMap((operation) =>
    operation.kind === 'attention' && operation.cache.window === undefined
      ? [{ cache: operation.cache, rows: operation.qkv.rows }]
      : [],
  )

/** Throws before a run that would go past the end of a cache. */
export const checkCapacity = (label: string, caches: readonly { cache: KvCache; rows: number }[]): void => {
  for (const { cache, rows } of caches) {
    if (cache.position + rows > cache.capacity) {
      throw new KernelError(
        'capacity',
        `plan ${label}: ${cache.position} + ${rows} positions, the KV cache was made for ${cache.capacity}`,
      )
    }
  }
}

/** The input `name`, which `values` must fill: what every executor refuses in `Plan.write`. */
export const inputFor = ({ label, inputs }: Recording, name: string, values: Float32Array): Tensor => {
  const input = inputs.get(name)
  if (!input) throw unknownName(label, 'input', name, inputs.keys())
  const length = input.rows * input.columns
  if (values.length !== length) {
    throw new KernelError(
      'shape',
      `plan ${label}: input ${name} takes ${length} values, got ${values.length}`,
    )
  }
  return input
}

/** The tensor that `Plan.read` gives for `name`: an input or a tap. */
export const readableTensor = ({ label, inputs, taps }: Recording, name: string): Tensor => {
  const tensor = taps.get(name) ?? inputs.get(name)
  if (!tensor) throw unknownName(label, 'tap', name, readableNames({ inputs, taps }))
  return tensor
}

/** The names that `Plan.read` knows. */
export const readableNames = ({ inputs, taps }: Pick<Recording, 'inputs' | 'taps'>): string[] => [
  ...inputs.keys(),
  ...taps.keys(),
]

const unknownName = (
  label: string,
  what: 'input' | 'tap',
  name: string,
  known: Iterable<string>,
): KernelError =>
  new KernelError('unknown-name', `plan ${label} has no ${what} ${name}; it has ${[...known].join(', ')}`)
