export { openHub } from '#hub'
export { decodeAudio } from './audio/decode-audio.ts'
export { decodeWav } from './audio/decode-wav.ts'
export { encodeWav, pcm16, wavHeader } from './audio/wav.ts'
export { WavDecoder } from './audio/wav-decoder.ts'
export type { BackendName, BackendReport } from './backend/backend.ts'
export type { GpuTuning, GpuTuningOption } from './backend/tune-gpu.ts'
export type { Checkpoint, Language } from './catalogue/checkpoint.ts'
export { accessPage, checkpoints, publishedRepositories } from './catalogue/checkpoints.ts'
export { findCheckpoint } from './catalogue/find-checkpoint.ts'
export { type PredefinedVoice, predefinedVoices, voiceLocation } from './catalogue/voices.ts'
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
export type {
  CachedFile,
  DownloadOptions,
  Hub,
  HubFile,
  HubReport,
  HubTuning,
  Verdict,
} from './hub/hub.ts'
export { formatHubLocation, type HubLocation, parseHubLocation } from './hub/location.ts'
export type { DownloadProgress, ProgressListener } from './hub/progress.ts'
export type { RetryPolicy } from './hub/retry.ts'
export type { HubOptions } from './hub/settings.ts'
export type { LoadOptions, LoadProgress, LoadVoiceOptions } from './load-options.ts'
export type { PocketConfig } from './model/config.ts'
export type { ConfigFile } from './model/config-schema.ts'
export type { FilePart, WeightsPart } from './model/part.ts'
export type { ModelParts, ModelSource } from './model/source.ts'
export type { NoiseSource } from './noise/noise-source.ts'
export { chunkNoise, referenceNoise } from './noise/normal-noise.ts'
export { DEFAULT_SEED } from './noise/seed.ts'
export type { AudioFormat, OutputOptions, Samples } from './output/audio-format.ts'
export { toReadableStream } from './output/readable-stream.ts'
export { type ResponseOptions, toResponse } from './output/response.ts'
export { PocketTts } from './pocket-tts.ts'
export { type PreparedText, prepareText } from './text/prepare-text.ts'
export { splitIntoBestSentences } from './text/split-sentences.ts'
export type { TextFlags, TextProfile } from './text/text-flags.ts'
export type { CloneOptions } from './voices/clone-voice.ts'
export type { Voice } from './voices/voice.ts'
export { loadInWorker, type WorkerOptions } from './worker/load-in-worker.ts'
export type { WorkerModelParts, WorkerModelSource } from './worker/pack-source.ts'
export type { SpeechEngine } from './worker/speech-engine.ts'
