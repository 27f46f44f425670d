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
}

const mostSlices = 128
const leastThreads = 64
/** A vector each is too little to be worth a thread; below this many per slice the joining costs more. */
const leastVectors = 2

/** `busy` is the number of threads that the device wants. */
export const chooseTile = ({ rows, outputs, vectors }: ProductSize, busy: number): Tile => {
  const tileRows = rows <= 8 ? rows : 4
  const rowTiles = Math.ceil(rows / tileRows)
  const tileOutputs = [4, 2].find((count) => rowTiles * Math.ceil(outputs / count) >= busy / 16) ?? 1
  const places = rowTiles * Math.ceil(outputs / tileOutputs)
  const slices = clamp(powerOfTwo(Math.min(busy / places, vectors / leastVectors)), 1, mostSlices)
  const threads = Math.max(slices, leastThreads)
  return {
    rows: tileRows,
    outputs: tileOutputs,
    slices,
    threads,
    rowPlaces: Math.min(powerOfTwo(rowTiles), threads / slices),
  }
}

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))

/** The smallest power of two that is no less. */
const powerOfTwo = (value: number): number => 2 ** Math.max(0, Math.ceil(Math.log2(value)))
