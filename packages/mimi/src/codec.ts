import {
  Checkpoint,
  type CheckpointProblem,
  type Kernels,
  type KvCacheOptions,
  type NdArray,
  ndArray,
  type WeightReader,
} from '@pocket/nn'
import { type MimiConfig, readConfig } from './config.ts'
import type { WeightKernels } from './convolution.ts'
import { MimiDecoder } from './decoder.ts'
import { loadDecoderNetwork } from './decoder-network.ts'
import { DecoderPass } from './decoder-pass.ts'
import { MimiEncoder } from './encoder.ts'
import { hasEncoder, isEncoderTrained, loadEncoderNetwork } from './encoder-network.ts'
import { MimiError } from './errors.ts'
import type { FrameNetwork } from './frame-network.ts'
import { FrameStream } from './frame-stream.ts'
import { checkSamples } from './input-checks.ts'
import { atPrecision, checkPrecision, type MimiPrecision } from './precision.ts'
import { shapesOnly, sizesOnly } from './rehearsal.ts'
import { padToFrames } from './sample-buffer.ts'
import { StreamStates } from './stream-states.ts'
import { channelsFirst, joinFrames } from './time-major.ts'

export interface MimiOptions {
  /** Default `stored`. */
  readonly precision?: MimiPrecision
}

export interface EncodeOptions {
  /** Values inside the network to give back: `model.I`, `encoder`, `transformer`, `latent`. */
  readonly taps?: readonly string[]
  /** Stops between two frames. */
  readonly signal?: AbortSignal | undefined
}

/** Latents `[frames, innerDim]`, row-major, and the taps that were asked for. */
export interface EncodedAudio extends NdArray<Float32Array> {
  /** Each `[channels, time]`, row-major, over all frames. */
  readonly taps: Readonly<Record<string, NdArray<Float32Array>>>
}

/** Mimi, the neural audio codec: 24 kHz mono audio as 12.5 latents a second, and back. */
export class MimiCodec {
  readonly config: MimiConfig
  readonly #kernels: Kernels
  readonly #decoder: FrameNetwork
  readonly #encoder: FrameNetwork | undefined
  readonly #noEncoder: string

  /**
   * Reads a codec's weights: a file of Mimi alone, or one that holds it under the prefix `mimi.`. All sizes come from
   * the tensors' shapes; tensors of other networks are not touched.
   *
   * @param weights `SafeTensors`, or a `TensorReader`, which is read tensor by tensor
   * @param kernels the executor that keeps the weights and runs the codec
   * @param stated what a configuration file says. `heads`, `context`, `maxPeriod` and `sampleRate` are not in the
   *   shapes and are taken from here (defaults 8, 250, 10000, 24000); whatever else is stated must agree
   * @param options `precision` `int16` has the decoder compute with integers: about twice as fast, and a little less
   *   exact. The encoder always computes with the stored weights
   * @throws MimiError `missing-tensor`, `wrong-shape`, `wrong-dtype`, `invalid-config` or `contradiction`, before a
   *   weight is read; KernelError where the executor has no memory
   */
  static async load(
    weights: WeightReader,
    kernels: Kernels,
    stated: Partial<MimiConfig> = {},
    { precision = 'stored' }: MimiOptions = {},
  ): Promise<MimiCodec> {
    checkPrecision(precision)
    const checkpoint = openCheckpoint(weights)
    const config = readConfig(checkpoint, stated)
    const complete = hasEncoder(checkpoint)
    await loadNetworks(openCheckpoint(shapesOnly(weights)), sizesOnly, config, { complete, precision })
    const trained = complete && (await isEncoderTrained(checkpoint))
    const networks = await loadNetworks(checkpoint, kernels, config, { complete: trained, precision })
    return new MimiCodec(config, kernels, networks, complete ? 'is all zeros' : 'is not in the checkpoint')
  }

  private constructor(config: MimiConfig, kernels: Kernels, networks: Networks, noEncoder: string) {
    this.config = config
    this.#kernels = kernels
    this.#decoder = networks.decoder
    this.#encoder = networks.encoder
    this.#noEncoder = noEncoder
  }

  /** False when the encoder's tensors are missing or all zero, as in the weights that anyone may download. */
  get canEncode(): boolean {
    return this.#encoder !== undefined
  }

  /** A stream of latents to be decoded. */
  createDecoder(): MimiDecoder {
    return new MimiDecoder(this.config, this.#stream(this.#decoder, true))
  }

  /**
   * A stream of latents to be decoded within recordings of the caller's own.
   *
   * @param kernels keeps the stream's states: another view of the codec's executor, such as one with lanes
   */
  createDecoderPass(kernels: Kernels = this.#kernels): DecoderPass {
    return new DecoderPass(this.#decoder, new StreamStates(kernels, cacheOptions(this.config)))
  }

  /**
   * A stream of samples to be encoded.
   *
   * @throws MimiError `no-encoder` unless `canEncode`
   */
  createEncoder(): MimiEncoder {
    return new MimiEncoder(this.config, this.#stream(this.#trainedEncoder(), true))
  }

  /**
   * Encodes a whole recording.
   *
   * @param pcm mono samples at 24 kHz; zeros are added up to a whole number of frames
   * @returns latents `[ceil(n / frameSize), innerDim]` row-major. With innerDim = latentDim they can be decoded
   * @throws MimiError `no-encoder`, `empty-input`, `invalid-input` (no Float32Array, NaN or infinity) or
   *   `unknown-tap`, before any work; the signal's reason
   */
  async encode(pcm: Float32Array, options: EncodeOptions = {}): Promise<EncodedAudio> {
    const { taps = [], signal } = options
    const encoder = this.#trainedEncoder()
    checkSamples(pcm)
    if (pcm.length === 0) throw new MimiError('empty-input', 'pcm is empty: there is nothing to encode')
    const stream = this.#stream(encoder, taps.length > 0)
    try {
      for (const name of taps) stream.checkTap(name)
      const tapped = new Map(taps.map((name) => [name, [] as NdArray<Float32Array>[]]))
      const data = await stream.run(padToFrames(pcm, this.config.frameSize), {
        signal,
        afterFrame: async () => {
          for (const [name, frames] of tapped) frames.push(await stream.read(name))
        },
      })
      const latents = ndArray(data, [data.length / this.config.innerDim, this.config.innerDim])
      return {
        ...latents,
        taps: Object.fromEntries([...tapped].map(([name, frames]) => [name, wholeTap(frames)])),
      }
    } finally {
      stream.dispose()
    }
  }

  #stream(network: FrameNetwork, tapped: boolean): FrameStream {
    return new FrameStream(this.#kernels, network, { cache: cacheOptions(this.config), tapped })
  }

  #trainedEncoder(): FrameNetwork {
    if (this.#encoder) return this.#encoder
    throw new MimiError(
      'no-encoder',
      `this codec cannot encode: its encoder ${this.#noEncoder}. The full weights are granted at ` +
        'https://huggingface.co/kyutai/pocket-tts',
    )
  }
}

interface Networks {
  readonly decoder: FrameNetwork
  readonly encoder: FrameNetwork | undefined
}

const openCheckpoint = (reader: WeightReader): Checkpoint =>
  new Checkpoint(reader, {
    prefix: 'mimi.',
    fail: (problem: CheckpointProblem, message) => new MimiError(problem, message),
  })

const loadNetworks = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  config: MimiConfig,
  { complete, precision }: { readonly complete: boolean; readonly precision: MimiPrecision },
): Promise<Networks> => ({
  decoder: await loadDecoderNetwork(checkpoint, atPrecision(kernels, precision), config),
  encoder: complete ? await loadEncoderNetwork(checkpoint, kernels, config) : undefined,
})

/** All positions of a frame are written before any attends, so the ring holds them beside the window. */
const cacheOptions = ({ dModel, heads, context, maxPeriod, resampleStride }: MimiConfig): KvCacheOptions => ({
  heads,
  headDim: dModel / heads,
  capacity: context + resampleStride,
  window: context,
  maxPeriod,
})

const wholeTap = (frames: readonly NdArray<Float32Array>[]): NdArray<Float32Array> => {
  const data = joinFrames(frames.map((frame) => frame.data))
  const [, channels = 1] = frames[0]?.shape ?? []
  return channelsFirst(ndArray(data, [data.length / channels, channels]))
}
