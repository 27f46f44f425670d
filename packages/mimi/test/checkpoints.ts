import { MimiCodec } from '@pocket/mimi'
import type { Kernels } from '@pocket/nn'
import { type Dtype, SafeTensors } from '@pocket/safetensors'
import { fullWeights, readFixture, readGoldens, writeTensorFile } from '@tooling/fixtures'

export const tinyModels = ['tiny-2026-04', 'tiny-2026-01', 'tiny-24l'] as const
export type TinyModel = (typeof tinyModels)[number]

/** Both networks, Mimi under the prefix `mimi.`, 8 or 4 filters. */
export const tinyWeights = (model: TinyModel): SafeTensors =>
  SafeTensors.fromBytes(readFixture(`tiny/${model}/model.safetensors`))

export const tinyCodec = (model: TinyModel, kernels: Kernels): Promise<MimiCodec> =>
  MimiCodec.load(tinyWeights(model), kernels)

/** The real geometry, generated weights. */
export const fullSizeCodec = (kernels: Kernels): Promise<MimiCodec> => {
  const tensors = [...fullWeights()].filter(({ name }) => name.startsWith('mimi.'))
  return MimiCodec.load(SafeTensors.fromBytes(writeTensorFile(tensors)), kernels)
}

/** 5 s of sound, 24 kHz. */
export const wave = (): Float32Array => golden(readGoldens('tiny/wave.safetensors'), 'wave').data

export const golden = (goldens: ReturnType<typeof readGoldens>, name: string) => {
  const found = goldens.get(name)
  if (!found) throw new Error(`there is no golden ${name}`)
  return found
}

export interface EditableTensor {
  dtype: Dtype
  shape: number[]
  bytes: Uint8Array
}

/** A model's file with some of its tensors changed, renamed or removed. */
export const editedWeights = (
  model: TinyModel,
  edit: (tensors: Map<string, EditableTensor>) => void,
): SafeTensors => {
  const weights = tinyWeights(model)
  const tensors = new Map<string, EditableTensor>()
  for (const name of weights.names()) {
    const { dtype, shape } = weights.info(name)
    tensors.set(name, { dtype, shape, bytes: weights.bytes(name).slice() })
  }
  edit(tensors)
  return SafeTensors.fromBytes(writeTensorFile([...tensors].map(([name, tensor]) => ({ name, ...tensor }))))
}

/** BF16 zeros of another shape in place of the tensor `name`. */
export const reshape = (tensors: Map<string, EditableTensor>, name: string, shape: number[]): void => {
  const length = shape.reduce((product, size) => product * size, 1)
  tensors.set(name, { dtype: 'BF16', shape, bytes: new Uint8Array(2 * length) })
}
