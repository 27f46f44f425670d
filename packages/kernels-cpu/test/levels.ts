import { probeSimd, type SimdLevel } from '@pocket/kernels-cpu'

const all: readonly SimdLevel[] = ['scalar', 'simd', 'relaxed']

/** Every level, and why it cannot be tested here, if it cannot: the title of a skipped suite says so. */
export const levels = all.map((level) => {
  const missing = all.indexOf(level) > all.indexOf(probeSimd())
  return { level, missing, title: missing ? `${level} (skipped: this machine has no such level)` : level }
})
