import { mini } from '@pocket/mini'
import { type LoadOptions, PocketTts, type Voice } from '@pocket/tts'
import { promptTokens, voicePositions } from '../sizes.ts'
import type { Stage, Subject, Work } from '../subject.ts'
import { watchWasmMemory } from '../wasm-memory.ts'

export interface PocketSettings {
  /** The embedded model, or files. */
  readonly source: 'mini' | { readonly model: string; readonly tokenizer: string }
  readonly options: Pick<LoadOptions, 'simd' | 'threads' | 'precision' | 'codecPrecision'>
}

/** Positions for the frames of one measurement. */
const roomForFrames = 1000

export const open = async ({ source, options }: PocketSettings): Promise<Subject> => {
  const wasmBytes = watchWasmMemory()
  const tts = await PocketTts.load(source === 'mini' ? mini : source, options)
  const voice = madeUpVoice(tts)
  const prepare: Record<Stage, () => Work | undefined | Promise<Work>> = {
    prompt: () => preparePrompt(tts, voice),
    step: () => prepareStep(tts, voice),
    flow: () => prepareFlow(tts),
    decode: () => prepareDecode(tts),
    encode: () => (tts.codec.canEncode ? prepareEncode(tts) : undefined),
  }
  return {
    prepare: async (stage) => prepare[stage](),
    // No model with generated weights knows an end, and none may end early.
    speak: (text) => tts.stream(text, { voice, eosThreshold: 1e9 }),
    wasmBytes: () => (options.simd === 'scalar' ? undefined : wasmBytes()),
  }
}

/** What it would say matters to no clock. */
const madeUpVoice = ({ flowLm }: PocketTts): Voice => {
  const { layers, heads, headDim } = flowLm.config
  const values = (): Float32Array =>
    Float32Array.from({ length: voicePositions * heads * headDim }, (_, i) => 0.1 * Math.sin(i))
  const layer = () => ({ k: values(), v: values() })
  return { kv: { positions: voicePositions, heads, headDim, layers: Array.from({ length: layers }, layer) } }
}

const tokensFor = ({ flowLm }: PocketTts): number[] =>
  Array.from({ length: promptTokens }, (_, i) => (10 * i + 3) % flowLm.config.vocabularySize)

const preparePrompt = (tts: PocketTts, { kv }: Voice): Work => {
  const capacity = voicePositions + promptTokens
  const tokens = tokensFor(tts)
  let state = tts.flowLm.createState({ adopt: kv, capacity })
  return {
    ready() {
      state.dispose()
      state = tts.flowLm.createState({ adopt: kv, capacity })
    },
    run: () => tts.flowLm.promptTokens(tokens, state),
    dispose: () => state.dispose(),
  }
}

const prepareStep = async (tts: PocketTts, { kv }: Voice): Promise<Work> => {
  const capacity = voicePositions + promptTokens + roomForFrames
  const state = tts.flowLm.createState({ adopt: kv, capacity })
  await tts.flowLm.promptTokens(tokensFor(tts), state)
  const latent = new Float32Array(tts.flowLm.config.latentDim).fill(0.5)
  return { run: () => tts.flowLm.step(latent, state), dispose: () => state.dispose() }
}

const prepareFlow = ({ flowLm }: PocketTts): Work => {
  const { dModel, latentDim } = flowLm.config
  const hidden = Float32Array.from({ length: dModel }, (_, i) => Math.sin(i))
  const noise = Float32Array.from({ length: latentDim }, (_, i) => Math.cos(i))
  return { run: () => flowLm.sampleLatent(hidden, noise, 1), dispose() {} }
}

const prepareDecode = ({ codec }: PocketTts): Work => {
  const decoder = codec.createDecoder()
  const latent = Float32Array.from({ length: codec.config.latentDim }, (_, i) => Math.sin(i))
  return { run: () => decoder.decode(latent, 1), dispose: () => decoder.dispose() }
}

const prepareEncode = ({ codec }: PocketTts): Work => {
  const encoder = codec.createEncoder()
  const samples = Float32Array.from({ length: codec.config.frameSize }, (_, i) => 0.3 * Math.sin(0.05 * i))
  return { run: () => encoder.encode(samples), dispose: () => encoder.dispose() }
}
