/** How weights lie in a buffer: rows of one output each, padded with zeros to whole vectors of 16 bytes. */
export type WeightFormat = 'f32' | 'bf16' | 'f16' | 'int8'

/** Weights in one vector of 16 bytes. */
export const weightsPerVector: Record<WeightFormat, number> = { f32: 4, bf16: 8, f16: 8, int8: 16 }

export const weightType: Record<WeightFormat, string> = {
  f32: 'vec4f',
  bf16: 'vec4u',
  f16: 'vec4u',
  int8: 'vec4u',
}

/**
 * WGSL for the product of a vector of weights with as many inputs, four to each of the names in `x`. WGSL has no
 * bfloat16, but one is the upper half of a float32: even weights lie in the lower halves of the words.
 */
export const product = (format: WeightFormat, weights: string, x: readonly string[]): string => {
  const [a = '', b = '', c = '', d = ''] = x
  switch (format) {
    case 'f32':
      return `dot(${weights}, ${a})`
    case 'bf16':
      return (
        `dot(bitcast<vec4f>(${weights} << vec4u(16u)), vec4f(${a}.x, ${a}.z, ${b}.x, ${b}.z)) + ` +
        `dot(bitcast<vec4f>(${weights} & vec4u(0xffff0000u)), vec4f(${a}.y, ${a}.w, ${b}.y, ${b}.w))`
      )
    case 'f16': {
      // The core of WGSL unpacks float16; what `shader-f16` adds is arithmetic, and sums are float32.
      const four = (first: string, second: string): string =>
        `vec4f(unpack2x16float(${weights}.${first}), unpack2x16float(${weights}.${second}))`
      return `dot(${four('x', 'y')}, ${a}) + dot(${four('z', 'w')}, ${b})`
    }
    case 'int8':
      return ['x', 'y', 'z', 'w']
        .map((part, index) => `dot(vec4f(unpack4xI8(${weights}.${part})), ${[a, b, c, d][index]})`)
        .join(' + ')
  }
}
