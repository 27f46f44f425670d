import { KernelError, type KvCache, type Recording } from '@pocket/nn'

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

export const unknownName = (
  label: string,
  what: 'input' | 'tap',
  name: string,
  known: Iterable<string>,
): KernelError =>
  new KernelError('unknown-name', `plan ${label} has no ${what} ${name}; it has ${[...known].join(', ')}`)

export const checkInputLength = (label: string, name: string, found: number, expected: number): void => {
  if (found === expected) return
  throw new KernelError('shape', `plan ${label}: input ${name} takes ${expected} values, got ${found}`)
}
