/** A voice of the embedded model. */
export type MiniVoice = 'rms' | 'awb' | 'slt'

/** The files of a model, ready to hand to `PocketTts.load` of `@pocket/tts`. */
export interface MiniModel {
  readonly name: string
  /** Weights of both networks: safetensors, BF16. */
  readonly model: URL
  /** SentencePiece unigram model of 1000 pieces. */
  readonly tokenizer: URL
  /** What the tensor shapes do not say, in the reference's YAML schema. */
  readonly config: URL
  /** One file a voice: the KV cache of a 3.2 s prompt, safetensors, F32. */
  readonly voices: Readonly<Record<MiniVoice, URL>>
  readonly defaultVoice: MiniVoice
}

/**
 * The embedded model: English, 24 kHz, 7.8 M parameters, three voices.
 *
 * Each file is a URL relative to this module: `file:` in Node, and under Vite or webpack an asset that the
 * bundler copies. Every `new URL` is written out in full because bundlers find assets by that very form;
 * `src/` and `dist/` lie equally deep, so the paths hold for both.
 */
export const mini: MiniModel = {
  name: 'pocket-mini',
  model: new URL('../model/model.safetensors', import.meta.url),
  tokenizer: new URL('../model/tokenizer.model', import.meta.url),
  config: new URL('../model/config.yaml', import.meta.url),
  voices: {
    rms: new URL('../model/embeddings/rms.safetensors', import.meta.url),
    awb: new URL('../model/embeddings/awb.safetensors', import.meta.url),
    slt: new URL('../model/embeddings/slt.safetensors', import.meta.url),
  },
  defaultVoice: 'rms',
}
