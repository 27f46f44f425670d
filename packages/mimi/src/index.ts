export {
  type EncodedAudio,
  type EncodeOptions,
  type LendWeights,
  MimiCodec,
  type MimiOptions,
} from './codec.ts'
export type { MimiConfig } from './config.ts'
export { MimiDecoder } from './decoder.ts'
export type { DecoderPass } from './decoder-pass.ts'
export { MimiEncoder } from './encoder.ts'
export { isOfEncoder } from './encoder-network.ts'
export { MimiError, type MimiErrorCode } from './errors.ts'
export type { MimiPrecision } from './precision.ts'
