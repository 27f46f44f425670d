import { KernelError } from './errors.ts'
import { bytesPerWeight } from './stored-weight.ts'
import type { ConvolutionSource, MatrixSource, StoredWeight, TransposedConvolutionSource } from './weights.ts'

/** What every executor refuses of weights, before any memory is taken: KernelError `shape`. */

export const checkMatrix = ({ weight, bias }: MatrixSource): void => {
  checkWeight('matrix', weight, 2)
  checkBias('matrix', bias, weight.shape[0])
}

export const checkConvolution = (source: ConvolutionSource): void => {
  const { weight, bias, stride = 1, dilation = 1 } = source
  checkWeight('convolution', weight, 3)
  checkBias('convolution', bias, weight.shape[0])
  checkSize('convolution: stride', stride)
  checkSize('convolution: dilation', dilation)
  const [, , kernel = 0] = weight.shape
  const field = (kernel - 1) * dilation + 1
  check(field >= stride, `convolution: a stride of ${stride} skips inputs, the receptive field is ${field}`)
}

export const checkTransposedConvolution = (source: TransposedConvolutionSource): void => {
  const { weight, bias, stride, depthwise = false } = source
  checkWeight('transposedConvolution', weight, 3)
  checkSize('transposedConvolution: stride', stride)
  const [channels = 0, columns = 0, kernel = 0] = weight.shape
  check(kernel % stride === 0, `transposedConvolution: kernel ${kernel} is no multiple of stride ${stride}`)
  check(
    !depthwise || columns === 1,
    `transposedConvolution: depthwise weights are [channels, 1, kernel], found [${weight.shape.join(', ')}]`,
  )
  checkBias('transposedConvolution', bias, depthwise ? channels : columns)
}

const checkWeight = (what: string, { dtype, shape, bytes }: StoredWeight, rank: number): void => {
  check(shape.length === rank, `${what}: weights of [${shape.join(', ')}], expected ${rank} dimensions`)
  for (const size of shape) checkSize(`${what}: weights of [${shape.join(', ')}]: a size`, size)
  const expected = shape.reduce((product, size) => product * size, bytesPerWeight[dtype])
  check(
    bytes.byteLength === expected,
    `${what}: ${dtype} weights of [${shape.join(', ')}] are ${expected} bytes, found ${bytes.byteLength}`,
  )
}

const checkBias = (what: string, bias: Float32Array | undefined, length: number | undefined): void =>
  check(!bias || bias.length === length, `${what}: a bias of ${bias?.length} values, expected ${length}`)

export const checkSize = (what: string, size: number): void =>
  check(Number.isSafeInteger(size) && size > 0, `${what} is ${size}, expected a positive whole number`)

export const check = (holds: boolean, message: string): void => {
  if (!holds) throw new KernelError('shape', message)
}
