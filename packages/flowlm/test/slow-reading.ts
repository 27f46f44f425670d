import type { Kernels, KvCache, Plan } from '@pocket/nn'

const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

/** The same executor with answers that arrive late, as a GPU's do: other calls come in between. */
export const slowReading = (kernels: Kernels): Kernels => ({
  name: `${kernels.name}, reading slowly`,
  vector: (values) => kernels.vector(values),
  matrix: (source) => kernels.matrix(source),
  convolution: (source) => kernels.convolution(source),
  transposedConvolution: (source) => kernels.transposedConvolution(source),
  convolutionState: (weights) => kernels.convolutionState(weights),
  kvCache: (options) => slowCache(kernels.kvCache(options)),
  plan: (recording) => slowPlan(kernels.plan(recording)),
  dispose: () => kernels.dispose(),
})

const slowPlan = (plan: Plan): Plan => ({
  taps: plan.taps,
  write: (name, values) => plan.write(name, values),
  run: () => plan.run(),
  start: () => plan.start(),
  dispose: () => plan.dispose(),
  read: async (name) => {
    const reading = plan.read(name)
    await nextTurn()
    return reading
  },
})

/** The executor knows its own caches, so this one stays what it is and only its reading changes. */
const slowCache = (cache: KvCache): KvCache => {
  const read = cache.read.bind(cache)
  return Object.assign(cache, {
    read: async (from?: number) => {
      const reading = read(from)
      await nextTurn()
      return reading
    },
  })
}
