export { decodeWav } from './audio/decode-wav.ts'
export { encodeWav, pcm16, wavHeader } from './audio/wav.ts'
export { PocketTtsError, type PocketTtsErrorCode } from './errors.ts'
export type { FrameSource, NoiseRows, Step, StepOptions } from './generate/frame-source.ts'
export type { GenerateOptions } from './generate/options.ts'
export type {
  AudioFrame,
  GenerateProgress,
  TextSpan,
  Utterance,
  UtteranceChunk,
  Warning,
  WarningCode,
  WordSpan,
} from './generate/utterance.ts'
export type { LoadOptions, LoadProgress } from './load-options.ts'
export type { PocketConfig } from './model/config.ts'
export type { ConfigFile } from './model/config-schema.ts'
export type { FilePart, WeightsPart } from './model/part.ts'
export type { ModelParts, ModelSource } from './model/source.ts'
export type { NoiseSource } from './noise/noise-source.ts'
export { chunkNoise, referenceNoise } from './noise/normal-noise.ts'
export { DEFAULT_SEED } from './noise/seed.ts'
export { PocketTts } from './pocket-tts.ts'
export { type PreparedText, prepareText } from './text/prepare-text.ts'
export { splitIntoBestSentences } from './text/split-sentences.ts'
export type { TextFlags, TextProfile } from './text/text-flags.ts'
export type { CloneOptions } from './voices/clone-voice.ts'
export type { Voice } from './voices/voice.ts'
