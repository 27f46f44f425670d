/**
 * The value below which the share `q` (0 to 1) of all values lies, between the two nearest ones in proportion. Of no
 * values it is NaN.
 */
export const quantile = (values: readonly number[], q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const place = q * (sorted.length - 1)
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** How wide the middle half of the values is, in parts of the median: 0 where nothing disturbs. */
export const relativeSpread = (values: readonly number[]): number =>
  (quantile(values, 0.75) - quantile(values, 0.25)) / median(values)

/** One run: how long it took by the clock on the wall, and how long processors worked for it, in ms. */
export interface Sample {
  readonly wall: number
  readonly cpu: number
}

/** How many times as long as its work everything took: 1 on an idle machine with one thread, less with more. */
export const wallPerCpu = (samples: readonly Sample[]): number => {
  const sum = (clock: keyof Sample): number => samples.reduce((total, sample) => total + sample[clock], 0)
  return sum('wall') / sum('cpu')
}
