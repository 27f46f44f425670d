import type { KvSnapshot } from '@pocket/flowlm'
import { SafeTensors, SafeTensorsError } from '@pocket/safetensors'
import { checkModelName, describeGeometry, invalidVoice, type VoiceModel } from './voice.ts'

/**
 * What a voice file holds: a KV cache, ready to adopt, or (the oldest files) the rows of a prompt that the language
 * model has yet to hear, `[count, dModel]`.
 */
export type VoiceFile =
  | { readonly kind: 'cache'; readonly kv: KvSnapshot; readonly modelId: string | undefined }
  | {
      readonly kind: 'prompt'
      readonly rows: Float32Array
      readonly count: number
      readonly modelId: string | undefined
    }

/** Metadata of the files that this package writes. */
export const modelKey = 'pocket.model'
export const sha256Key = 'pocket.sha256'

const attention = (layer: number): string => `transformer.layers.${layer}.self_attn`
const cachePattern = /^transformer\.layers\.(\d+)\.self_attn\/cache$/
const promptName = 'audio_prompt'

/**
 * Reads a voice file of any generation, for a given model: a cache with `offset`, a cache with `current_end` (whose
 * length is the offset), or `audio_prompt` `[1, T, dModel]`. Caches are `[2, 1, T, heads, headDim]` per layer, of any
 * float dtype; they are widened and cut to the positions in use, and what lies beyond those is not looked at.
 *
 * @param label names the voice in messages
 * @throws PocketTtsError `invalid-voice`: no voice, a damaged one, or one of another model (both are named)
 */
export const readVoice = (bytes: Uint8Array, model: VoiceModel, label: string): VoiceFile => {
  const fail = (problem: string, cause?: unknown) => invalidVoice(label, problem, cause)
  try {
    const file = SafeTensors.fromBytes(bytes)
    const modelId = checkMetadata(file, model, label)
    const layers = countLayers(file)
    if (layers === 0 && file.has(promptName)) return { ...readPrompt(file, model, fail), modelId }
    if (layers === 0) {
      throw fail(
        `it holds no voice: expected ${attention(0)}/cache or ${promptName}, found ${listed(file.names())}`,
      )
    }
    return { kind: 'cache', kv: readCaches(file, layers, model, fail), modelId }
  } catch (cause) {
    if (cause instanceof SafeTensorsError) throw fail(cause.message, cause)
    throw cause
  }
}

type Fail = (problem: string) => Error

/** The same weights are the same model, whatever it is called; otherwise the names must agree. */
const checkMetadata = (file: SafeTensors, model: VoiceModel, label: string): string | undefined => {
  const { [modelKey]: modelId, [sha256Key]: sha256 } = file.metadata
  if (sha256 === model.sha256) return model.modelId
  checkModelName(label, modelId, model)
  if (sha256 === undefined) return modelId
  throw invalidVoice(
    label,
    `it was made with other weights of ${modelId ?? 'a model'} (${brief(sha256)}) than these of ${model.modelId} ` +
      `(${brief(model.sha256)})`,
  )
}

const brief = (sha256: string): string => `SHA-256 ${sha256.slice(0, 12)}…`

const countLayers = (file: SafeTensors): number =>
  file.names().filter((name) => cachePattern.test(name)).length

const readCaches = (file: SafeTensors, layers: number, model: VoiceModel, fail: Fail): KvSnapshot => {
  if (layers !== model.layers) {
    throw fail(
      `it has ${layers} layers, the model ${model.modelId} has ${model.layers}; it is of another model`,
    )
  }
  const { heads, headDim } = model
  const positions = readOffset(file, 0, fail)
  const read = Array.from({ length: layers }, (_, layer) => {
    const offset = readOffset(file, layer, fail)
    if (offset !== positions) {
      throw fail(`layer ${layer} is at position ${offset}, layer 0 at ${positions}; all must be at the same`)
    }
    return readLayer(file, layer, offset, model, fail)
  })
  return { positions, heads, headDim, layers: read }
}

/** Positions in use: `offset` in newer files, the length of `current_end` in older ones. */
const readOffset = (file: SafeTensors, layer: number, fail: Fail): number => {
  const offset = `${attention(layer)}/offset`
  const currentEnd = `${attention(layer)}/current_end`
  if (file.has(offset)) {
    const { dtype, shape } = file.info(offset)
    if (dtype !== 'I64' || String(shape) !== '1') {
      throw fail(`${offset} is ${dtype} [${shape.join(', ')}], expected I64 [1]`)
    }
    return Number(file.i64(offset)[0])
  }
  if (!file.has(currentEnd)) throw fail(`it has neither ${offset} nor ${currentEnd}`)
  const { shape } = file.info(currentEnd)
  if (shape.length !== 1) throw fail(`${currentEnd} is [${shape.join(', ')}], expected one dimension`)
  return shape[0] ?? 0
}

const readLayer = (
  file: SafeTensors,
  layer: number,
  offset: number,
  model: VoiceModel,
  fail: Fail,
): { k: Float32Array; v: Float32Array } => {
  const name = `${attention(layer)}/cache`
  if (!file.has(name)) throw fail(`it has no ${name}`)
  const { shape } = file.info(name)
  const [pair, batch, capacity = 0, heads = 0, headDim = 0] = shape
  if (shape.length !== 5 || pair !== 2 || batch !== 1) {
    throw fail(`${name} is [${shape.join(', ')}], expected [2, 1, positions, heads, head dimension]`)
  }
  if (heads !== model.heads || headDim !== model.headDim) {
    const found = describeGeometry({ ...model, heads, headDim })
    throw fail(
      `it holds ${found}, the model ${model.modelId} has ${describeGeometry(model)}; it is of another model`,
    )
  }
  if (!(offset >= 0 && offset <= capacity)) {
    throw fail(`layer ${layer} is at position ${offset}, outside its cache of ${capacity}`)
  }
  const { data } = file.f32(name)
  const used = offset * heads * headDim
  const cut = (start: number): Float32Array => {
    // A copy: a view would keep the whole file in memory.
    const values = data.slice(start, start + used)
    if (!values.every(Number.isFinite))
      throw fail(`${name} holds NaN or infinity within its ${offset} positions`)
    return values
  }
  return { k: cut(0), v: cut(capacity * heads * headDim) }
}

const readPrompt = (file: SafeTensors, model: VoiceModel, fail: Fail) => {
  const { shape } = file.info(promptName)
  const [batch, count = 0, dModel] = shape
  if (shape.length !== 3 || batch !== 1 || dModel !== model.dModel || count === 0) {
    throw fail(
      `${promptName} is [${shape.join(', ')}], the model ${model.modelId} wants [1, positions, ${model.dModel}]; ` +
        'it is damaged, or of another model',
    )
  }
  const rows = file.f32(promptName).data.slice()
  if (!rows.every(Number.isFinite)) throw fail(`${promptName} holds NaN or infinity`)
  return { kind: 'prompt', rows, count } as const
}

const listed = (names: readonly string[]): string => {
  if (names.length === 0) return 'no tensors'
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
}
