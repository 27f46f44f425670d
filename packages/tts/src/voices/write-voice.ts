import { type TensorData, writeSafeTensors } from '@pocket/safetensors'
import { modelKey, sha256Key } from './read-voice.ts'
import { checkVoice, type Voice, type VoiceModel } from './voice.ts'

/**
 * A voice as a safetensors file of the newest generation, which the reference reads too: per layer
 * `transformer.layers.N.self_attn/cache` F32 `[2, 1, positions, heads, headDim]` and `/offset` I64 `[1]`, no position
 * more than in use, the model in the metadata. Reading it gives the same voice, bit for bit.
 *
 * @throws PocketTtsError `invalid-voice` for a voice of another model
 */
export const writeVoice = (voice: Voice, model: VoiceModel): Uint8Array => {
  checkVoice(voice, model)
  const { positions, heads, headDim, layers } = voice.kv
  const tensors: Record<string, TensorData> = {}
  for (const [layer, { k, v }] of layers.entries()) {
    const data = new Float32Array(k.length + v.length)
    data.set(k)
    data.set(v, k.length)
    const attention = `transformer.layers.${layer}.self_attn`
    tensors[`${attention}/cache`] = { dtype: 'F32', shape: [2, 1, positions, heads, headDim], data }
    tensors[`${attention}/offset`] = { dtype: 'I64', shape: [1], data: BigInt64Array.of(BigInt(positions)) }
  }
  return writeSafeTensors(tensors, { [modelKey]: model.modelId, [sha256Key]: model.sha256 })
}
