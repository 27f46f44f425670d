import { exponential } from './functions'
import { greatestLane, madd, storeUpTo, sumOfLanes } from './vector'

/**
 * Attention of `rows` rows over a cache that they are first written to. Position p lies in slot p mod `slots`; where the
 * first `shared` positions lie in another cache's slots, in slot p − shared.
 * Keys are `[heads][slots / 8][headDim][8]`, eight positions side by side so that eight scores are summed at once;
 * values are `[heads][slots][headDim rounded up to 4]`. Strides in bytes.
 */
@unmanaged
export class Attention {
  /** `[rows, 3 · heads · headDim]`: q | k | v */
  qkv: usize
  qkvStride: usize
  rows: i32
  /** Rows of one unit of work. */
  unitRows: i32
  heads: i32
  headDim: i32
  keys: usize
  values: usize
  slots: i32
  /** Positions that lie in another cache, whole blocks of eight; only where there is no window. */
  shared: i32
  sharedKeys: usize
  sharedValues: usize
  sharedSlots: i32
  /** A row attends to itself and the `window − 1` positions before it; 0: to all. */
  window: i32
  /** Position of the first row; the host sets it before each run. */
  position: i32
  /** Cosine and sine of each pair, for the positions of the rows: `[rows, headDim / 2, 2]` */
  rotations: usize
  scale: f32
  out: usize
  outStride: usize
}

@inline
function keyBytes(a: Attention, slots: i32): usize {
  return (<usize>((slots + 7) & ~7) * a.headDim) << 2
}

@inline
function valueRowBytes(a: Attention): usize {
  return (<usize>(a.headDim + 3) & ~3) << 2
}

/** Writes the keys, rotated, and the values of `rows` rows from `firstRow`. */
export function append(a: Attention, firstRow: i32, rows: i32): void {
  const width = <usize>(a.heads * a.headDim) << 2
  const headBytes = <usize>a.headDim << 2
  for (let row = firstRow; row < firstRow + rows; row++) {
    const slot = <i32>(<u32>(a.position + row - a.shared) % <u32>a.slots)
    const rotations = a.rotations + row * headBytes
    let k = a.qkv + row * a.qkvStride + width
    let keys = a.keys + ((<usize>(slot >> 3) * a.headDim * 8 + (slot & 7)) << 2)
    let values = a.values + slot * valueRowBytes(a)
    for (let head = 0; head < a.heads; head++) {
      rotate(k, rotations, a.headDim, 1, keys, 32)
      memory.copy(values, k + width, headBytes)
      k += headBytes
      keys += keyBytes(a, a.slots)
      values += a.slots * valueRowBytes(a)
    }
  }
}

/** Interleaved pairs (x₂ᵢ, x₂ᵢ₊₁), turned and scaled; the results are stored `step` bytes apart. */
@inline
function rotate(x: usize, rotations: usize, headDim: i32, scale: f32, out: usize, step: usize): void {
  for (const end = x + (<usize>headDim << 2); x < end; x += 8, rotations += 8, out += 2 * step) {
    const real = f32.load(x)
    const imaginary = f32.load(x, 4)
    const cosine = f32.load(rotations)
    const sine = f32.load(rotations, 4)
    f32.store(out, (real * cosine - imaginary * sine) * scale)
    f32.store(out + step, (real * sine + imaginary * cosine) * scale)
  }
}

/**
 * Computes `units` units of work from `first`: a unit is `unitRows` rows of one head, those of a head in succession.
 * `scratch` holds the rotated query, then the weights of one row: `headDim + min(slots, window) + 32` values.
 */
export function attend(a: Attention, first: i32, units: i32, scratch: usize): void {
  const unitsOfHead = (a.rows + a.unitRows - 1) / a.unitRows
  for (let unit = first; unit < first + units; unit++) {
    const firstRow = (unit % unitsOfHead) * a.unitRows
    const endRow = min(firstRow + a.unitRows, a.rows)
    for (let row = firstRow; row < endRow; row++) attendRow(a, unit / unitsOfHead, row, scratch)
  }
}

function attendRow(a: Attention, head: i32, row: i32, query: usize): void {
  const headBytes = <usize>a.headDim << 2
  const position = a.position + row
  const scores = query + headBytes
  rotate(a.qkv + row * a.qkvStride + head * headBytes, a.rotations + row * headBytes, a.headDim, a.scale, query, 4)
  const keys = a.keys + head * keyBytes(a, a.slots)
  const values = a.values + head * a.slots * valueRowBytes(a)
  // The positions lie in one run of slots, or in two: where a ring begins anew, or after what another cache holds.
  const first = a.window != 0 ? max(position - a.window + 1, 0) : 0
  const count = position - first + 1
  let begin = <i32>(<u32>first % <u32>a.slots)
  let ahead = min(count, a.slots - begin)
  let aheadKeys = keys
  let aheadValues = values
  if (a.shared > 0) {
    begin = 0
    ahead = a.shared
    aheadKeys = a.sharedKeys + head * keyBytes(a, a.sharedSlots)
    aheadValues = a.sharedValues + head * a.sharedSlots * valueRowBytes(a)
  }
  const wrapped = count - ahead

  const aheadEnd = score(a, query, aheadKeys, begin, ahead, scores)
  const end = wrapped > 0 ? score(a, query, keys, 0, wrapped, aheadEnd) : aheadEnd
  const inverse: f32 = 1 / softmax(scores, end)

  const from = aheadValues + begin * valueRowBytes(a)
  const weights = scores + (<usize>(begin & 7) << 2)
  mix(a, from, weights, ahead, values, aheadEnd, wrapped, inverse, a.out + row * a.outStride + head * headBytes)
}

/**
 * Scores of the slots `begin … begin + count`, in whole blocks of eight from `scores`; what a block holds besides
 * them, be it a position out of the window or memory never written, gets −∞. Returns the end of what it wrote.
 */
function score(a: Attention, query: usize, keys: usize, begin: i32, count: i32, scores: usize): usize {
  const blockBytes = <usize>a.headDim << 5
  const firstBlock = begin >> 3
  const blocks = ((begin + count + 7) >> 3) - firstBlock
  const queryEnd = query + (<usize>a.headDim << 2)
  let k = keys + firstBlock * blockBytes
  const end = scores + (<usize>blocks << 5)
  for (let to = scores; to < end; to += 32) {
    let a0 = f32x4.splat(0)
    let a1 = a0
    let b0 = a0
    let b1 = a0
    for (let q = query; q < queryEnd; q += 8, k += 64) {
      let s = v128.load32_splat(q)
      a0 = madd(s, v128.load(k), a0)
      a1 = madd(s, v128.load(k, 16), a1)
      s = v128.load32_splat(q, 4)
      b0 = madd(s, v128.load(k, 32), b0)
      b1 = madd(s, v128.load(k, 48), b1)
    }
    v128.store(to, f32x4.add(a0, b0))
    v128.store(to, f32x4.add(a1, b1), 16)
  }
  const valid = scores + (<usize>(begin & 7) << 2)
  for (let at = scores; at < valid; at += 4) f32.store(at, -Infinity)
  for (let at = valid + (<usize>count << 2); at < end; at += 4) f32.store(at, -Infinity)
  return end
}

/** Turns scores into weights, in place; returns their sum, by which they still have to be divided. */
function softmax(scores: usize, end: usize): f32 {
  let greatest = f32x4.splat(-Infinity)
  for (let at = scores; at < end; at += 16) greatest = f32x4.pmax(greatest, v128.load(at))
  const top = f32x4.splat(greatestLane(greatest))
  let sum = f32x4.splat(0)
  for (let at = scores; at < end; at += 16) {
    const weight = exponential(f32x4.sub(v128.load(at), top))
    v128.store(at, weight)
    sum = f32x4.add(sum, weight)
  }
  return sumOfLanes(sum)
}

/** `out = inverse · Σ weights · values` over two runs of slots; only values of positions attended to are read. */
function mix(
  a: Attention,
  values: usize,
  weights: usize,
  count: i32,
  wrappedValues: usize,
  wrappedWeights: usize,
  wrappedCount: i32,
  inverse: f32,
  out: usize,
): void {
  const rowBytes = valueRowBytes(a)
  const factor = f32x4.splat(inverse)
  let dim = 0
  for (; dim + 32 <= a.headDim; dim += 32) {
    const at = <usize>dim << 2
    let s0 = f32x4.splat(0)
    let s1 = s0
    let s2 = s0
    let s3 = s0
    let s4 = s0
    let s5 = s0
    let s6 = s0
    let s7 = s0
    let v = values + at
    let w = weights
    let end = weights + (<usize>count << 2)
    for (let part = 0; part < 2; part++) {
      for (; w < end; w += 4, v += rowBytes) {
        const s = v128.load32_splat(w)
        s0 = madd(s, v128.load(v), s0)
        s1 = madd(s, v128.load(v, 16), s1)
        s2 = madd(s, v128.load(v, 32), s2)
        s3 = madd(s, v128.load(v, 48), s3)
        s4 = madd(s, v128.load(v, 64), s4)
        s5 = madd(s, v128.load(v, 80), s5)
        s6 = madd(s, v128.load(v, 96), s6)
        s7 = madd(s, v128.load(v, 112), s7)
      }
      v = wrappedValues + at
      w = wrappedWeights
      end = wrappedWeights + (<usize>wrappedCount << 2)
    }
    const o = out + at
    v128.store(o, f32x4.mul(s0, factor))
    v128.store(o, f32x4.mul(s1, factor), 16)
    v128.store(o, f32x4.mul(s2, factor), 32)
    v128.store(o, f32x4.mul(s3, factor), 48)
    v128.store(o, f32x4.mul(s4, factor), 64)
    v128.store(o, f32x4.mul(s5, factor), 80)
    v128.store(o, f32x4.mul(s6, factor), 96)
    v128.store(o, f32x4.mul(s7, factor), 112)
  }
  for (; dim < a.headDim; dim += 4) {
    const at = <usize>dim << 2
    let sum = f32x4.splat(0)
    let v = values + at
    let w = weights
    let end = weights + (<usize>count << 2)
    for (let part = 0; part < 2; part++) {
      for (; w < end; w += 4, v += rowBytes) sum = madd(v128.load32_splat(w), v128.load(v), sum)
      v = wrappedValues + at
      w = wrappedWeights
      end = wrappedWeights + (<usize>wrappedCount << 2)
    }
    storeUpTo(out + at, f32x4.mul(sum, factor), a.headDim - dim)
  }
}
