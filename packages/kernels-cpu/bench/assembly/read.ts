/** Reads `bytes` bytes as two streams and does as little as possible with them: what memory can give one core. */
export function read(address: usize, bytes: usize): v128 {
  const half = bytes >> 1
  let a = f32x4.splat(0)
  let b = a
  let c = a
  let d = a
  for (let p = address; p < address + half; p += 64) {
    a = v128.xor(a, v128.xor(v128.load(p), v128.load(p + half)))
    b = v128.xor(b, v128.xor(v128.load(p, 16), v128.load(p + half, 16)))
    c = v128.xor(c, v128.xor(v128.load(p, 32), v128.load(p + half, 32)))
    d = v128.xor(d, v128.xor(v128.load(p, 48), v128.load(p + half, 48)))
  }
  return v128.xor(v128.xor(a, b), v128.xor(c, d))
}

export function sum(address: usize, bytes: usize): i32 {
  return i32x4.extract_lane(read(address, bytes), 0)
}
