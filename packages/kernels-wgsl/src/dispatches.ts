import { type Activation, isTensor, type Norm, type Tensor } from '@pocket/nn'
import { type Addressing, addressing, bindingOf, type Place } from './addressing.ts'
import type { Capabilities } from './capabilities.ts'
import { attentionControl, type ControlBlock, convolutionControl } from './control.ts'
import type { FusedConvolution, FusedLinear, Of, Step } from './fusion.ts'
import { addVectorKernel } from './kernels/add-vector.ts'
import { attentionKernel } from './kernels/attention.ts'
import { depthwiseKernel } from './kernels/depthwise.ts'
import { layerNormKernel } from './kernels/layer-norm.ts'
import type { RowNorm } from './kernels/norm.ts'
import { type Epilogue, type Kernel, productKernel } from './kernels/product.ts'
import { type RowSource, tensorRows, type Windows, windowRows } from './kernels/row-source.ts'
import { chooseTile } from './kernels/tile.ts'
import { weightsPerVector } from './kernels/weight-format.ts'
import type { PackedWeights } from './pack.ts'
import type { DeviceConvolutionState, DeviceKvCache } from './states.ts'
import type { GpuConvolution, GpuMatrix, GpuTransposedConvolution, GpuVector } from './weights.ts'

/** A kernel with what it is bound to. */
export interface Dispatch {
  readonly kernel: Kernel
  readonly resources: Readonly<Record<string, GPUBufferBinding>>
  readonly control: ControlBlock | undefined
}

export interface DispatchContext {
  readonly lanes: number
  readonly capabilities: Capabilities
  place(tensor: Tensor): Place
}

type Resources = Record<string, GPUBufferBinding>

export const dispatchOf = (step: Step, context: DispatchContext): Dispatch => {
  switch (step.kind) {
    case 'linear':
      return linear(step, context)
    case 'layerNorm':
      return layerNorm(step.operation, context)
    case 'attention':
      return attention(step.operation, context)
    case 'convolution':
    case 'transposedConvolution':
      return step.operation.kind === 'convolution'
        ? convolution(step.operation, step, context)
        : transposedConvolution(step.operation, step, context)
    case 'addVector':
      return addVector(step.operation, context)
    default:
      return step satisfies never
  }
}

const linear = ({ operation, norm, post }: FusedLinear, context: DispatchContext): Dispatch => {
  const { matrix, activation, scale, residual, out } = operation
  const { packed } = matrix as GpuMatrix
  const resources: Resources = {}
  const x = bindTensor(resources, 'x', norm?.x ?? operation.x, context)
  const epilogue: Epilogue = {
    bias: packed.bias,
    activation,
    scale:
      typeof scale === 'number'
        ? scale
        : isTensor(scale)
          ? bindTensor(resources, 'scale', scale, context)
          : bindVector(resources, 'scale', scale),
    residual: residual && bindTensor(resources, 'residual', residual, context),
    post: post && { vector: true, activation: post.activation },
    out: bindTensor(resources, 'out', post?.out ?? out, context),
  }
  if (post) bindVector(resources, 'post_vector', post.vector)
  const spec = {
    name: `${norm ? 'norm + ' : ''}linear ${x.rows} × ${matrix.inputs} → ${matrix.outputs}`,
    source: tensorRows(x, reachOf(packed)),
    norm: norm && rowNorm(resources, norm, context),
    epilogue,
  }
  return productDispatch(spec, packed, x.rows, resources, context)
}

interface ProductParts {
  readonly name: string
  readonly source: RowSource
  readonly windows?: Windows
  readonly norm?: RowNorm | undefined
  readonly epilogue: Epilogue
  readonly control?: ControlBlock | undefined
}

const productDispatch = (
  { control, windows, norm, ...parts }: ProductParts,
  packed: PackedWeights,
  laneRows: number,
  resources: Resources,
  { lanes, capabilities }: DispatchContext,
): Dispatch => {
  const { format, outputs, vectors } = packed
  const rows = lanes * laneRows
  const tile = chooseTile({ rows, outputs, vectors, norm: norm !== undefined }, capabilities.tuning)
  const kernel = productKernel(
    { ...parts, windows, norm, rows, outputs, format, vectors, tile },
    capabilities,
  )
  const terms: Resources = packed.terms ? { terms: { buffer: packed.terms } } : {}
  return { kernel, resources: { ...resources, weights: { buffer: packed.buffer }, ...terms }, control }
}

const reachOf = ({ format, vectors }: PackedWeights): number => vectors * weightsPerVector[format]

const layerNorm = (operation: Of<'layerNorm'>, context: DispatchContext): Dispatch => {
  const resources: Resources = {}
  const x = bindTensor(resources, 'x', operation.x, context)
  const kernel = layerNormKernel(
    {
      name: `norm ${x.rows} × ${x.columns}`,
      rows: context.lanes * x.rows,
      x,
      norm: rowNorm(resources, operation, context),
      out: bindTensor(resources, 'out', operation.out, context),
    },
    context.capabilities,
  )
  return { kernel, resources, control: undefined }
}

/** Binds a norm's vectors, and shift and scale of its modulation: with one binding where one tensor holds both. */
const rowNorm = (
  resources: Resources,
  { norm, modulation }: { norm: Norm; modulation: Of<'layerNorm'>['modulation'] },
  context: DispatchContext,
): RowNorm => {
  if (norm.weight) bindVector(resources, 'norm_weight', norm.weight)
  if (norm.bias) bindVector(resources, 'norm_bias', norm.bias)
  const has = { eps: norm.eps, weight: norm.weight !== undefined, bias: norm.bias !== undefined }
  if (!modulation) return { ...has, modulation: undefined }
  const { shift, scale } = modulation
  if (shift.base !== scale.base) {
    return {
      ...has,
      modulation: {
        shared: false,
        shift: bindTensor(resources, 'shift', shift, context),
        scale: bindTensor(resources, 'modulation', scale, context),
      },
    }
  }
  const [shiftPlace, scalePlace] = [context.place(shift), context.place(scale)]
  const earlier = shiftPlace.offset < scalePlace.offset ? shiftPlace : scalePlace
  resources.modulation = bindingOf(earlier)
  const relative = (place: Place): Addressing => ({
    ...addressing(place),
    first: addressing(earlier).first + place.offset - earlier.offset,
  })
  return { ...has, modulation: { shared: true, shift: relative(shiftPlace), scale: relative(scalePlace) } }
}

const attention = ({ qkv, cache, out }: Of<'attention'>, context: DispatchContext): Dispatch => {
  const device = cache as DeviceKvCache
  const { heads, headDim, window } = device
  const resources: Resources = { keys: { buffer: device.keys }, values: { buffer: device.values } }
  const kernel = attentionKernel(
    {
      name: `attention ${qkv.rows} × ${heads} heads`,
      lanes: context.lanes,
      rows: qkv.rows,
      heads,
      headDim,
      window,
      qkv: bindTensor(resources, 'qkv', qkv, context),
      out: bindTensor(resources, 'out', out, context),
    },
    context.capabilities,
  )
  return { kernel, resources, control: attentionControl(device, qkv.rows, context.lanes) }
}

type Activations = Pick<FusedConvolution, 'inputActivation' | 'outputActivation'>

const convolution = (
  operation: Of<'convolution'>,
  { inputActivation, outputActivation }: Activations,
  context: DispatchContext,
): Dispatch => {
  const { x, residual, out } = operation
  const { packed, kernel, stride, dilation, padding } = operation.weights as GpuConvolution
  const resources: Resources = {}
  const state = operation.state as DeviceConvolutionState
  const windows: Windows = {
    lanes: context.lanes,
    x: bindTensor(resources, 'x', x, context),
    kernel,
    stride,
    dilation,
    history: state.rows,
    padding,
    activation: inputActivation,
    rows: out.rows,
  }
  const parts = {
    name: `convolution ${out.rows} × ${kernel}·${x.columns} → ${out.columns}`,
    source: windowRows(windows, reachOf(packed)),
    windows,
    epilogue: {
      bias: packed.bias,
      activation: 'none' as const,
      scale: 1,
      residual: residual && bindTensor(resources, 'residual', residual, context),
      post: postActivation(outputActivation),
      out: bindTensor(resources, 'out', out, context),
    },
    control: bindState(resources, state, context),
  }
  return productDispatch(parts, packed, out.rows, resources, context)
}

/** A transposed convolution is one whose windows are a few steps of x and whose rows hold `stride` rows of the result. */
const transposedConvolution = (
  operation: Of<'transposedConvolution'>,
  { inputActivation, outputActivation }: Activations,
  context: DispatchContext,
): Dispatch => {
  const { x, out } = operation
  const weights = operation.weights as GpuTransposedConvolution
  const { stride, packed, filters } = weights
  const taps = weights.kernel / stride
  const resources: Resources = {}
  const state = operation.state as DeviceConvolutionState
  const windows: Windows = {
    lanes: context.lanes,
    x: bindTensor(resources, 'x', x, context),
    kernel: taps,
    stride: 1,
    dilation: 1,
    history: state.rows,
    padding: 'zero',
    activation: inputActivation,
    rows: x.rows,
  }
  const control = bindState(resources, state, context)
  const name = `transposed convolution ${x.rows} × ${taps}·${x.columns} → ${stride}·${out.columns}`
  if (!packed) {
    if (filters) resources.filters = { buffer: filters.buffer }
    if (filters?.bias) resources.terms = { buffer: filters.bias }
    const outPlace = bindTensor(resources, 'out', out, context)
    const kernel = depthwiseKernel({
      name: `depthwise ${name}`,
      windows,
      stride,
      bias: filters?.bias !== undefined,
      out: outPlace,
    })
    return { kernel, resources, control }
  }
  const place = bindTensor(resources, 'out', out, context)
  const parts = {
    name,
    source: windowRows(windows, reachOf(packed)),
    windows,
    epilogue: {
      bias: packed.bias,
      activation: 'none' as const,
      scale: 1,
      residual: undefined,
      post: postActivation(outputActivation),
      out: { ...place, rows: x.rows, columns: stride * out.columns, rowStride: stride * place.rowStride },
    },
    control,
  }
  return productDispatch(parts, packed, x.rows, resources, context)
}

const postActivation = (activation: Activation): Epilogue['post'] =>
  activation === 'none' ? undefined : { vector: false, activation }

const bindState = (
  resources: Resources,
  state: DeviceConvolutionState,
  { lanes }: DispatchContext,
): ControlBlock | undefined => {
  if (state.rows === 0) return undefined
  resources.state = { buffer: state.buffer }
  return convolutionControl(state, lanes)
}

const addVector = ({ x, vector, activation, out }: Of<'addVector'>, context: DispatchContext): Dispatch => {
  const resources: Resources = {}
  bindVector(resources, 'addend', vector)
  const kernel = addVectorKernel({
    name: `add vector ${x.rows} × ${x.columns}`,
    rows: context.lanes * x.rows,
    x: bindTensor(resources, 'x', x, context),
    activation,
    out: bindTensor(resources, 'out', out, context),
  })
  return { kernel, resources, control: undefined }
}

const bindTensor = (
  resources: Resources,
  name: string,
  tensor: Tensor,
  context: DispatchContext,
): Addressing => {
  const place = context.place(tensor)
  resources[name] = bindingOf(place)
  return addressing(place)
}

const bindVector = (
  resources: Resources,
  name: string,
  vector: Exclude<Norm['weight'], undefined>,
): 'vector' => {
  resources[name] = { buffer: (vector as GpuVector).buffer }
  return 'vector'
}
