/** Reads `bytes` bytes as four streams and does as little as possible with them: what memory can give one core. */
export function read(address: usize, bytes: usize): v128 {
  const quarter = bytes >> 2
  let a = f32x4.splat(0)
  let b = a
  let c = a
  let d = a
  for (let p = address; p < address + quarter; p += 64) {
    a = v128.xor(a, line(p))
    b = v128.xor(b, line(p + quarter))
    c = v128.xor(c, line(p + 2 * quarter))
    d = v128.xor(d, line(p + 3 * quarter))
  }
  return v128.xor(v128.xor(a, b), v128.xor(c, d))
}

@inline
function line(p: usize): v128 {
  return v128.xor(v128.xor(v128.load(p), v128.load(p, 16)), v128.xor(v128.load(p, 32), v128.load(p, 48)))
}

export function sum(address: usize, bytes: usize): i32 {
  return i32x4.extract_lane(read(address, bytes), 0)
}
