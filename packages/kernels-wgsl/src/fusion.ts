import { type Activation, type Operation, operands, type Recording, type Tensor } from '@pocket/nn'
import { mostBindings } from './program.ts'
import type { GpuMatrix } from './weights.ts'

export type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

/** A linear layer with what is computed in its dispatch: the LayerNorm before it, the added vector after it. */
export interface FusedLinear {
  readonly kind: 'linear'
  readonly operation: Of<'linear'>
  readonly norm: Of<'layerNorm'> | undefined
  readonly post: Of<'addVector'> | undefined
}

/** A convolution, its activation perhaps applied already where its input was stored. */
export interface FusedConvolution {
  readonly kind: 'convolution' | 'transposedConvolution'
  readonly operation: Of<'convolution'> | Of<'transposedConvolution'>
  readonly inputActivation: Activation
  /** What all readers of the result would apply to it. */
  readonly outputActivation: Activation
}

type FusedKind = 'linear' | FusedConvolution['kind']

/** One dispatch. */
export type Step =
  | FusedLinear
  | FusedConvolution
  | {
      [Kind in Exclude<Operation['kind'], FusedKind>]: { readonly kind: Kind; readonly operation: Of<Kind> }
    }[Exclude<Operation['kind'], FusedKind>]

export const outOf = (step: Step): Tensor =>
  step.kind === 'linear' && step.post ? step.post.out : step.operation.out

/** Tensors that a step reads. */
export const readBy = (step: Step): Tensor[] => {
  if (step.kind !== 'linear' || !step.norm) return operands(step.operation)
  return [...operands(step.operation).filter((tensor) => tensor !== step.operation.x), ...operands(step.norm)]
}

/**
 * The steps of a recording. A LayerNorm disappears into the linear layers behind it, where nobody else reads its result;
 * a vector that is added to a linear layer's result joins that layer; an activation that all readers of a convolution's
 * result begin with ends that convolution.
 */
export const fuse = ({ operations, taps }: Recording): Step[] => {
  const readers = readersOf(operations)
  const tapped = new Set(taps.values())
  const joined = new Set<Operation>()

  const postOf = (operation: Of<'linear'>): Of<'addVector'> | undefined => {
    const [reader, ...others] = readers.get(operation.out) ?? []
    const fits = reader?.kind === 'addVector' && reader.x === operation.out
    return fits && others.length === 0 && !tapped.has(operation.out) ? reader : undefined
  }
  const fused = new Map<Operation, FusedLinear>()
  for (const operation of operations) {
    if (operation.kind !== 'linear') continue
    const post = postOf(operation)
    if (post) joined.add(post)
    fused.set(operation, { kind: 'linear', operation, norm: undefined, post })
  }
  for (const norm of operations) {
    if (norm.kind !== 'layerNorm' || tapped.has(norm.out)) continue
    const layers = (readers.get(norm.out) ?? []).map((reader) => {
      const layer = fused.get(reader)
      return layer?.operation.x === norm.out ? { ...layer, norm } : undefined
    })
    if (layers.length === 0 || !layers.every((layer) => layer && fits(layer))) continue
    joined.add(norm)
    for (const layer of layers) if (layer) fused.set(layer.operation, layer)
  }
  const activations = storedActivations(operations, readers, tapped)
  return operations.flatMap((operation): Step[] => {
    if (joined.has(operation)) return []
    switch (operation.kind) {
      case 'linear':
        return [fused.get(operation) ?? { kind: 'linear', operation, norm: undefined, post: undefined }]
      case 'convolution':
      case 'transposedConvolution': {
        const inputActivation = activations.has(operation.x) ? 'none' : operation.inputActivation
        const outputActivation = activations.get(operation.out) ?? 'none'
        return [{ kind: operation.kind, operation, inputActivation, outputActivation }]
      }
      case 'layerNorm':
        return [{ kind: operation.kind, operation }]
      case 'attention':
        return [{ kind: operation.kind, operation }]
      case 'addVector':
        return [{ kind: operation.kind, operation }]
      default:
        return operation satisfies never
    }
  })
}

/**
 * Results of convolutions that are stored activated, since all that happens to them is that convolutions activate them
 * so: done once there, and not with each of many readings. States hold activated values either way.
 */
const storedActivations = (
  operations: readonly Operation[],
  readers: ReadonlyMap<Tensor, readonly Operation[]>,
  tapped: ReadonlySet<Tensor>,
): Map<Tensor, Activation> => {
  const activations = new Map<Tensor, Activation>()
  for (const operation of operations) {
    if (!isConvolution(operation) || isDepthwise(operation) || tapped.has(operation.out)) continue
    const found = new Set(
      (readers.get(operation.out) ?? []).map((reader) => activationOnly(reader, operation.out)),
    )
    const [activation, ...others] = found
    if (activation && others.length === 0) activations.set(operation.out, activation)
  }
  return activations
}

const isConvolution = (operation: Operation): operation is FusedConvolution['operation'] =>
  operation.kind === 'convolution' || operation.kind === 'transposedConvolution'

const isDepthwise = ({ weights }: FusedConvolution['operation']): boolean =>
  'depthwise' in weights && weights.depthwise

/** The activation that a convolution applies to `x`, which it does not use in any other way. */
const activationOnly = (reader: Operation, x: Tensor): Activation | undefined => {
  if (!isConvolution(reader) || reader.x !== x || reader.inputActivation === 'none') return undefined
  return reader.kind === 'convolution' && reader.residual?.base === x ? undefined : reader.inputActivation
}

/** Which operations read each tensor, through whatever views. */
const readersOf = (operations: readonly Operation[]): Map<Tensor, Operation[]> => {
  const readers = new Map<Tensor, Operation[]>()
  for (const operation of operations) {
    for (const base of new Set(operands(operation).map((tensor) => tensor.base))) {
      const list = readers.get(base)
      if (list) list.push(operation)
      else readers.set(base, [operation])
    }
  }
  return readers
}

/** Whether a fused layer keeps to the buffers that every device can bind. */
const fits = ({ operation, norm, post }: FusedLinear): boolean => {
  const { terms } = (operation.matrix as GpuMatrix).packed
  const modulation = norm?.modulation
  const bound = [
    true, // weights
    true, // x
    true, // out
    terms,
    norm?.norm.weight,
    norm?.norm.bias,
    modulation,
    modulation && modulation.shift.base !== modulation.scale.base,
    typeof operation.scale === 'object',
    operation.residual,
    post,
  ]
  return bound.filter(Boolean).length <= mostBindings
}
