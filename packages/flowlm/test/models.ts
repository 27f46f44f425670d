import type { KvSnapshot } from '@pocket/flowlm'
import { SafeTensors } from '@pocket/safetensors'
import { type Golden, readFixture, readGoldens, readJson, transpose } from '@tooling/fixtures'

/** The fixtures' suggested bounds, relative L2: a single stage from given inputs, and a whole pass. */
export const tolerance = { stage: 1e-5, pass: 5e-5 }

/** Absolute, for raw end-of-speech logits. */
export const logitTolerance = 1e-3

export const tinyModels = ['tiny-2026-04', 'tiny-2026-01', 'tiny-24l'] as const

export const openModel = (model: string): SafeTensors =>
  SafeTensors.fromBytes(readFixture(`tiny/${model}/model.safetensors`))

/** What `golden.json` of a tiny model says, as far as the language model is concerned. */
export interface TinyCase {
  clone: { offset: number; bos_before_voice: boolean }
  prompt: { ids: number[]; offset_before: number; offset_after: number }
  ar: { steps: number; temp: number }
  flow: { pairs: [number, number][] }
}

export class Goldens {
  readonly #tensors: Map<string, Golden>

  constructor(file: string) {
    this.#tensors = readGoldens(file)
  }

  has(name: string): boolean {
    return this.#tensors.has(name)
  }

  get(name: string): Golden {
    const golden = this.#tensors.get(name)
    if (!golden) throw new Error(`there is no golden ${name}`)
    return golden
  }

  data(name: string): Float32Array {
    return this.get(name).data
  }

  /** Row `index` of a golden `[rows, columns]`. */
  row(name: string, index: number): Float32Array {
    const { data, shape } = this.get(name)
    const columns = shape.at(-1) ?? 0
    return data.slice(index * columns, (index + 1) * columns)
  }

  /** A golden `[channels, time]` as `[time, channels]`. */
  timeMajor(name: string): { data: Float32Array; frames: number } {
    const { data, shape } = this.get(name)
    const [channels = 0, frames = 0] = shape
    return { data: transpose(data, channels, frames), frames }
  }
}

export const tinyGoldens = (model: string): { goldens: Goldens; info: TinyCase } => ({
  goldens: new Goldens(`tiny/${model}/golden.safetensors`),
  info: readJson<TinyCase>(`tiny/${model}/golden.json`),
})

/** A voice file of the newest kind: `transformer.layers.N.self_attn/cache` `[2, 1, positions, heads, headDim]`. */
export const readVoice = (model: string): KvSnapshot => {
  const file = SafeTensors.fromBytes(readFixture(`tiny/${model}/voices/voice-f32.safetensors`))
  const cache = (layer: number): string => `transformer.layers.${layer}.self_attn/cache`
  const [, , positions = 0, heads = 0, headDim = 0] = file.info(cache(0)).shape
  const layers: KvSnapshot['layers'] = []
  for (let layer = 0; file.has(cache(layer)); layer++) {
    const { data } = file.f32(cache(layer))
    layers.push({ k: data.slice(0, data.length / 2), v: data.slice(data.length / 2) })
  }
  return { positions, heads, headDim, layers }
}

/** Keys, then values, of the given positions of one layer: `[2, positions, heads, headDim]`. */
export const cacheRows = (
  { heads, headDim, layers }: KvSnapshot,
  layer: number,
  positions: Iterable<number>,
): number[] => {
  const { k, v } = layers[layer] ?? { k: new Float32Array(), v: new Float32Array() }
  const width = heads * headDim
  const rows = [...positions]
  return [k, v].flatMap((values) =>
    rows.flatMap((position) => [...values.subarray(position * width, (position + 1) * width)]),
  )
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index)

export const scaled = (values: Float32Array, factor: number): Float32Array =>
  values.map((value) => value * factor)
