import { SafeTensors, type TensorData, writeSafeTensors } from '@pocket/safetensors'
import { fixturePath, readFixture } from '@tooling/fixtures'

export const tinyFolder = fixturePath('tiny/tiny-2026-04')
export const tinyVoice = fixturePath('tiny/tiny-2026-04/voices/voice-f32.safetensors')

/** The tiny model's parts, in memory. */
export const tinyParts = {
  name: 'tiny-2026-04',
  model: readFixture('tiny/tiny-2026-04/model.safetensors'),
  tokenizer: readFixture('tiny/tiny-2026-04/tokenizer.model'),
}

/** A safetensors file with some tensors changed or, by undefined, left out. */
export const rewrite = (
  file: Uint8Array,
  change: (name: string, tensor: TensorData) => TensorData | undefined,
  metadata?: Record<string, string>,
): Uint8Array => {
  const source = SafeTensors.fromBytes(file)
  const tensors: Record<string, TensorData> = {}
  for (const name of source.names()) {
    const { dtype, shape } = source.info(name)
    const tensor = change(name, { dtype, shape, data: source.bytes(name) })
    if (tensor) tensors[name] = tensor
  }
  return writeSafeTensors(tensors, metadata ?? source.metadata)
}

/** The weights that anyone may download: the encoder is there and blank. */
export const ungated = (file: Uint8Array): Uint8Array =>
  rewrite(file, (name, tensor) =>
    name.startsWith('mimi.encoder.') ? { ...tensor, data: new Uint8Array(tensor.data.byteLength) } : tensor,
  )
