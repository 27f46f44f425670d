import {
  type Checkpoint,
  type Kernels,
  type Matrix,
  type Norm,
  type Operations,
  type Precision,
  type Recording,
  record,
  type StoredWeight,
  type Tensor,
  type Vector,
} from '@pocket/nn'
import type { FlowLmConfig } from './config.ts'
import { stackRows } from './stack-rows.ts'

/** The adaLN MLP that turns noise into a latent, conditioned on a hidden state and on the time. */
export interface FlowHead {
  /** A hidden state to the conditioning, without the bias: `[flowDim, dModel]` */
  readonly condition: Matrix
  readonly conditionBias: Vector
  /** A latent to the flow head's width: `[flowDim, latentDim]` */
  readonly inputProjection: Matrix
  /**
   * All adaLN modulations as one matrix, `[(3 · flowDepth + 2) · flowDim, flowDim]`: shift, scale and gate of each
   * block, then shift and scale of the output.
   */
  readonly modulation: Matrix
  readonly blocks: readonly FlowBlock[]
  /** Back to a latent: `[latentDim, flowDim]` */
  readonly outputProjection: Matrix
}

interface FlowBlock {
  readonly norm: Norm
  readonly linear1: Matrix
  readonly linear2: Matrix
}

/** The flow head's LayerNorm eps (`modules/mlp.py`), other than the transformer's. */
const flowNormEps = 1e-6

export const loadFlowHead = async (
  checkpoint: Checkpoint,
  kernels: Kernels,
  { dModel, latentDim, flowDim, flowDepth }: FlowLmConfig,
  precision: Precision,
): Promise<FlowHead> => {
  const vector = async (name: string): Promise<Vector> =>
    kernels.vector(await checkpoint.values(`flow_net.${name}`, [flowDim]))
  const linear = async (name: string, outputs: number, inputs: number): Promise<Matrix> =>
    kernels.matrix({
      weight: await checkpoint.stored(`flow_net.${name}.weight`, [outputs, inputs]),
      bias: await checkpoint.values(`flow_net.${name}.bias`, [outputs]),
      precision,
    })
  const blocks: FlowBlock[] = []
  for (let n = 0; n < flowDepth; n++) {
    const block = `res_blocks.${n}.`
    blocks.push({
      norm: {
        weight: await vector(`${block}in_ln.weight`),
        bias: await vector(`${block}in_ln.bias`),
        eps: flowNormEps,
      },
      linear1: await linear(`${block}mlp.0`, flowDim, flowDim),
      linear2: await linear(`${block}mlp.2`, flowDim, flowDim),
    })
  }
  return {
    condition: kernels.matrix({
      weight: await checkpoint.stored('flow_net.cond_embed.weight', [flowDim, dModel]),
      precision,
    }),
    conditionBias: await vector('cond_embed.bias'),
    inputProjection: await linear('input_proj', flowDim, latentDim),
    modulation: await loadModulation(checkpoint, kernels, flowDim, flowDepth, precision),
    blocks,
    outputProjection: await linear('final_layer.linear', latentDim, flowDim),
  }
}

const loadModulation = async (
  checkpoint: Checkpoint,
  kernels: Kernels,
  flowDim: number,
  flowDepth: number,
  precision: Precision,
): Promise<Matrix> => {
  const parts = Array.from({ length: flowDepth }, (_, n) => ({ name: `res_blocks.${n}`, rows: 3 * flowDim }))
  parts.push({ name: 'final_layer', rows: 2 * flowDim })
  const weights: StoredWeight[] = []
  const bias: number[] = []
  for (const { name, rows } of parts) {
    const linear = `flow_net.${name}.adaLN_modulation.1.`
    weights.push(await checkpoint.stored(`${linear}weight`, [rows, flowDim]))
    bias.push(...(await checkpoint.values(`${linear}bias`, [rows])))
  }
  return kernels.matrix({ weight: stackRows(weights), bias: Float32Array.from(bias), precision })
}

/**
 * The flow head as a plan: inputs `hidden` `[steps, dModel]`, the same hidden state in each row, `time`
 * `[steps, flowDim]` and `noise` `[1, latentDim]`, tap `latent` `[1, latentDim]`.
 */
export const recordFlow = (head: FlowHead, steps: number): Recording =>
  record(`FlowLM flow head, ${steps} steps`, (ops) => {
    const hidden = ops.input('hidden', steps, head.condition.inputs)
    const time = ops.input('time', steps, head.condition.outputs)
    const noise = ops.input('noise', 1, head.inputProjection.inputs)
    ops.tap('latent', flow(ops, head, { hidden, time, noise }))
  })

export interface FlowInputs {
  /** One hidden state, in one row or repeated in as many as `time` has: `[1 or steps, dModel]` */
  readonly hidden: Tensor
  /** The timestep embeddings, `[steps, flowDim]` */
  readonly time: Tensor
  /** `[1, latentDim]` */
  readonly noise: Tensor
}

/**
 * Noise to a latent `[1, latentDim]` in `steps` Euler steps of the Lagrangian self-distillation flow:
 * `x ← x + v(hidden, i / steps, (i + 1) / steps, x) / steps` for i = 0 … steps − 1.
 */
export const flow = (ops: Operations, head: FlowHead, { hidden, time, noise }: FlowInputs): Tensor => {
  const steps = time.rows
  const modulationAt = modulations(ops, head, hidden, time)
  let latent = noise
  for (let step = 0; step < steps; step++) latent = advance(ops, head, latent, modulationAt(step), 1 / steps)
  return latent
}

/**
 * All modulations of a step, one row. None depends on the latent, so where the hidden state stands in as many rows as
 * there are steps they are one matrix product, and their weights, half of the head, are read once.
 */
const modulations = (
  ops: Operations,
  head: FlowHead,
  hidden: Tensor,
  time: Tensor,
): ((step: number) => Tensor) => {
  const modulate = (rows: Tensor): Tensor => {
    const conditioned = ops.linear(hidden, head.condition, { residual: rows })
    return ops.linear(ops.addVector(conditioned, head.conditionBias, 'silu'), head.modulation)
  }
  if (hidden.rows !== time.rows) return (step) => modulate(ops.rows(time, step, 1))
  const all = modulate(time)
  return (step) => ops.rows(all, step, 1)
}

/** `latent + velocity · duration`, all `[1, latentDim]`; `modulation` is a row of all modulations. */
const advance = (
  ops: Operations,
  head: FlowHead,
  latent: Tensor,
  modulation: Tensor,
  duration: number,
): Tensor => {
  const width = head.inputProjection.outputs
  const part = (index: number): Tensor => ops.columns(modulation, index * width, width)
  let x = ops.linear(latent, head.inputProjection)
  head.blocks.forEach((block, index) => {
    const [shift, scale, gate] = [part(3 * index), part(3 * index + 1), part(3 * index + 2)]
    const inner = ops.linear(ops.layerNorm(x, block.norm, { shift, scale }), block.linear1, {
      activation: 'silu',
    })
    x = ops.linear(inner, block.linear2, { scale: gate, residual: x })
  })
  const [shift, scale] = [part(3 * head.blocks.length), part(3 * head.blocks.length + 1)]
  const normed = ops.layerNorm(x, { eps: flowNormEps }, { shift, scale })
  return ops.linear(normed, head.outputProjection, { scale: duration, residual: latent })
}
