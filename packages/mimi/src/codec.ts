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
import { LateNetwork } from './late-network.ts'
import { atPrecision, checkPrecision, type MimiPrecision } from './precision.ts'
import { shapesOnly, sizesOnly } from './rehearsal.ts'
import { padToFrames } from './sample-buffer.ts'
import { StreamStates } from './stream-states.ts'
import { channelsFirst, joinFrames } from './time-major.ts'

export interface MimiOptions {
  /** Default `stored`. */
  readonly precision?: MimiPrecision
  /**
   * Lends the same weights once more, for the encoder: it is then read when it is first used, since who only decodes
   * has no need of it. Default: it is read with the decoder.
   */
  readonly reopen?: LendWeights
}

/** Opens weights, and closes them when `use` is done. */
export type LendWeights = <Made>(use: (weights: WeightReader) => Promise<Made>) => Promise<Made>

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
  readonly #encoder: LateNetwork | undefined
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
   *   exact. The encoder always computes with the stored weights. `reopen` leaves the encoder for later
   * @throws MimiError `missing-tensor`, `wrong-shape`, `wrong-dtype`, `invalid-config` or `contradiction`, before a
   *   weight is read; KernelError where the executor has no memory
   */
  static async load(
    weights: WeightReader,
    kernels: Kernels,
    stated: Partial<MimiConfig> = {},
    { precision = 'stored', reopen }: MimiOptions = {},
  ): Promise<MimiCodec> {
    checkPrecision(precision)
    const checkpoint = openCheckpoint(weights)
    try {
      const config = readConfig(checkpoint, stated)
      const complete = hasEncoder(checkpoint)
      const rehearsed = openCheckpoint(shapesOnly(weights))
      await loadDecoderNetwork(rehearsed, atPrecision(sizesOnly, precision), config)
      if (complete) await loadEncoderNetwork(rehearsed, sizesOnly, config)
      const trained = complete && (await isEncoderTrained(checkpoint))
      const decoder = await loadDecoderNetwork(checkpoint, atPrecision(kernels, precision), config)
      const encoder = !trained
        ? undefined
        : reopen
          ? laterEncoder(reopen, kernels, config)
          : await readEncoder(checkpoint, kernels, config)
      return new MimiCodec(
        config,
        kernels,
        { decoder, encoder },
        complete ? 'is all zeros' : 'is not in the checkpoint',
      )
    } finally {
      checkpoint.release()
    }
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
   * A stream of samples to be encoded. An encoder that was left for later is read now; where that fails, the stream's
   * calls reject with the reason, and those of the next one try again.
   *
   * @throws MimiError `no-encoder` unless `canEncode`
   */
  createEncoder(): MimiEncoder {
    const network = this.#trainedEncoder().get()
    return new MimiEncoder(
      this.config,
      network.then((encoder) => this.#stream(encoder, true)),
    )
  }

  /**
   * Encodes a whole recording.
   *
   * @param pcm mono samples at 24 kHz; zeros are added up to a whole number of frames
   * @returns latents `[ceil(n / frameSize), innerDim]` row-major. With innerDim = latentDim they can be decoded
   * @throws MimiError `no-encoder`, `empty-input`, `invalid-input` (no Float32Array, NaN or infinity) or
   *   `unknown-tap`, before any work; the signal's reason; what reading an encoder that was left for later throws
   */
  async encode(pcm: Float32Array, options: EncodeOptions = {}): Promise<EncodedAudio> {
    const { taps = [], signal } = options
    const encoder = this.#trainedEncoder()
    checkSamples(pcm)
    if (pcm.length === 0) throw new MimiError('empty-input', 'pcm is empty: there is nothing to encode')
    const network = await encoder.get()
    signal?.throwIfAborted()
    const stream = this.#stream(network, taps.length > 0)
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

  #trainedEncoder(): LateNetwork {
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
  readonly encoder: LateNetwork | undefined
}

const openCheckpoint = (reader: WeightReader): Checkpoint =>
  new Checkpoint(reader, {
    prefix: 'mimi.',
    fail: (problem: CheckpointProblem, message) => new MimiError(problem, message),
  })

const readEncoder = async (
  checkpoint: Checkpoint,
  kernels: WeightKernels,
  config: MimiConfig,
): Promise<LateNetwork> => {
  const network = await loadEncoderNetwork(checkpoint, kernels, config)
  return new LateNetwork(async () => network)
}

/** What is lent then need not be what is there now: it is rehearsed again. */
const laterEncoder = (lend: LendWeights, kernels: WeightKernels, config: MimiConfig): LateNetwork =>
  new LateNetwork(() =>
    lend(async (weights) => {
      await loadEncoderNetwork(openCheckpoint(shapesOnly(weights)), sizesOnly, config)
      const checkpoint = openCheckpoint(weights)
      try {
        return await loadEncoderNetwork(checkpoint, kernels, config)
      } finally {
        checkpoint.release()
      }
    }),
  )

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
