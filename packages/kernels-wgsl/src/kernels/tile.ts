import type { Tuning } from '../capabilities.ts'

/** How a product is shared out among threads. All but the counts of rows and outputs are powers of two. */
export interface Tile {
  /** Rows and outputs that one thread sums. */
  readonly rows: number
  readonly outputs: number
  /** Threads that share the terms of those sums. */
  readonly slices: number
  /** Threads of a workgroup. */
  readonly threads: number
  /** Of the `threads / slices` places of a workgroup, how many lie along the rows; the others lie along the outputs. */
  readonly rowPlaces: number
}

export interface ProductSize {
  readonly rows: number
  readonly outputs: number
  /** Vectors of weights in a row of them. */
  readonly vectors: number
  /** Whether rows are normalised first. */
  readonly norm: boolean
}

const mostSlices = 128
/** Threads of a workgroup whose rows are normalised first, on a device that wants few. */
const leastNormThreads = 64
/** A vector each is too little to be worth a thread; below this many per slice the joining costs more. */
const leastVectors = 2
/** Where rows are normalised first every workgroup looks at its rows, so few and large ones do less of it. */
const normThreads = 256

/**
 * How many rows, outputs and slices are a thread's follows from the `threads` that the device wants, which it calls
 * `busy`; the workgroup's size only says which threads are neighbours. It does not where rows are normalised first: as
 * many share the sums of a row.
 */
export const chooseTile = (
  { rows, outputs, vectors, norm }: ProductSize,
  { threads: busy, workgroup }: Pick<Tuning, 'threads' | 'workgroup'>,
): Tile => {
  const tileRows = rows <= 8 ? rows : 4
  const rowTiles = Math.ceil(rows / tileRows)
  const tileOutputs = outputsOf(rowTiles, tileRows, outputs, busy)
  const places = rowTiles * Math.ceil(outputs / tileOutputs)
  const slices = clamp(powerOfTwo(Math.min(busy / places, vectors / leastVectors)), 1, mostSlices)
  const threads = Math.max(slices, norm ? clamp(busy, leastNormThreads, normThreads) : workgroup)
  return {
    rows: tileRows,
    outputs: tileOutputs,
    slices,
    threads,
    rowPlaces: norm ? 1 : Math.min(powerOfTwo(rowTiles), threads / slices),
  }
}

/**
 * As many outputs for each thread as leave enough places: every value of a row that is read serves all of them, every
 * weight serves the tile's rows.
 */
const outputsOf = (rowTiles: number, tileRows: number, outputs: number, busy: number): number => {
  const placesOf = (count: number): number => rowTiles * Math.ceil(outputs / count)
  // Tiles of many rows spend their time on reading rows: they take more outputs sooner.
  const [eight, four, two] =
    tileRows > 4 ? [Infinity, busy / 64, busy / 128] : [busy / 32, busy / 16, busy / 16]
  if (placesOf(8) >= eight) return 8
  if (placesOf(4) >= four) return 4
  return placesOf(2) >= two ? 2 : 1
}

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))

/** The smallest power of two that is no less. */
const powerOfTwo = (value: number): number => 2 ** Math.max(0, Math.ceil(Math.log2(value)))
