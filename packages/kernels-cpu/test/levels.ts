import { probeSimd, type SimdLevel } from '@pocket/kernels-cpu'

const all: readonly SimdLevel[] = ['scalar', 'simd', 'relaxed']

/** Every level alone, and on the numbers of threads that differ in kind: with one helper, with several. */
export const levelsAndThreads = () =>
  levels.flatMap((entry) =>
    (entry.level === 'scalar' ? [1] : [1, 2, 3]).map((threads) => ({
      ...entry,
      threads,
      title: `${entry.title}, threads: ${threads}`,
    })),
  )

/** Every level, and why it cannot be tested here, if it cannot: the title of a skipped suite says so. */
export const levels = all.map((level) => {
  const missing = all.indexOf(level) > all.indexOf(probeSimd())
  return { level, missing, title: missing ? `${level} (skipped: this machine has no such level)` : level }
})
