import type { GpuTuningOption } from './backend/tune-gpu.ts'
import { PocketTtsError } from './errors.ts'
import type { HubOptions } from './hub/settings.ts'
import { checkCallOptions, invalidOption } from './option-checks.ts'
import { type Choice, loadChoices, loadCounts } from './options.ts'

/** How far loading has come. */
export interface LoadProgress {
  /** `download`: files that come over the network, one after the other. Then the two networks. */
  readonly stage: 'download' | 'language-model' | 'codec'
  readonly loadedBytes: number
  /** Undefined where the server does not say. */
  readonly totalBytes: number | undefined
  /** `hf://owner/repo/path@revision`, of a download from the hub. */
  readonly file?: string
  /** Of a download from the hub, over the last seconds. */
  readonly bytesPerSecond?: number
}

export interface LoadOptions {
  /**
   * What computes. `cpu`: WebAssembly. `gpu`: everything through WebGPU. `hybrid`: the language model on the CPU, the
   * codec on the GPU. `auto` (default): where there is a GPU that makes known frames as the CPU does, the one of the
   * three that makes them fastest; else the CPU.
   */
  readonly backend?: Choice<'backend'> | undefined
  /**
   * How the language model's matrices are kept. `stored` (default): as the file has them. `int8` keeps the large ones in
   * 8 bits: half the memory, and speech that differs a little.
   */
  readonly precision?: Choice<'precision'> | undefined
  /**
   * How the codec computes sound. `stored` (default): float32 sums over the weights as the file has them. `int16`: sums
   * of 16-bit integers on the CPU, about twice as fast; what differs lies some 65 dB below the speech.
   */
  readonly codecPrecision?: Choice<'codecPrecision'> | undefined
  /**
   * When the codec's encoder is read, which only cloning voices needs and which is a tenth of the usual model.
   * `when-needed` (default): with the first recording to be cloned, where the weights are in a file, in the cache or in a
   * Blob, which must then still be there; weights in memory or at another URL are read at once. `ready`: with everything
   * else.
   */
  readonly cloning?: Choice<'cloning'> | undefined
  /** WebAssembly level of the CPU kernels. Default `auto`, the best this machine has. */
  readonly simd?: Choice<'simd'> | undefined
  /**
   * Threads that share the work of the CPU kernels, the engine's own included; speech is the same for any. Default: as
   * many as there are processors, at most 4, and 1 in pages that are not cross-origin isolated. A number asked for is
   * that one or an error.
   */
  readonly threads?: number | undefined
  /**
   * Utterances that a GPU speaks side by side, reading each weight once for all of them; more of them wait. What one
   * hears does not depend on the others. Each lane takes memory on the GPU for 1024 positions. Default 1: no sharing,
   * and any number at once. On the CPU it changes nothing; `hybrid` has none.
   */
  readonly lanes?: number | undefined
  /**
   * How work is cut for a GPU. `auto` (default): the fastest of a few cuts that give the same bits, found by timing frames
   * when the model is loaded, which takes at most some seconds. `fastest`: also cuts that add sums in another order and
   * so change last digits, where they are clearly faster; a frame's sound may then differ from one loading to the next.
   * An object pins what it states, such as `tts.backend.tuning` of an earlier loading, and nothing is timed.
   */
  readonly gpuTuning?: GpuTuningOption | undefined
  /**
   * The most positions that one chunk may take: voice, text and frames together. Memory is reserved per chunk as needed,
   * so this only bounds what one very long clause can ask for. Default 4096.
   */
  readonly maxPositions?: number | undefined
  /** Where files of the Hugging Face hub come from, and how. Default: as the environment says. */
  readonly hub?: HubOptions | undefined
  /** Stops loading, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined
}

/** How a voice is read. */
export interface LoadVoiceOptions extends Pick<LoadOptions, 'signal'> {
  /** Called with the bytes of a voice that comes from the hub. */
  readonly onProgress?: LoadOptions['onProgress']
}

/** 4096 positions are a voice of 10 s, a clause of 750 tokens and the four minutes it may take to say. */
const usualMaxPositions = 4096

/** Throws PocketTtsError `invalid-option`, naming the option. */
export const checkLoadOptions = (options: LoadOptions): LoadOptions & { readonly maxPositions: number } => {
  checkCallOptions(options)
  for (const name of ['backend', 'precision', 'codecPrecision', 'cloning', 'simd'] as const) {
    const value = options[name]
    if (value === undefined) continue
    const values = Object.keys(loadChoices[name].values)
    if (!values.includes(value)) throw invalidOption(name, value, `one of ${values.join(', ')}`)
  }
  const { backend, codecPrecision } = options
  if (codecPrecision === 'int16' && (backend === 'gpu' || backend === 'hybrid')) {
    throw new PocketTtsError(
      'invalid-option',
      `codecPrecision int16 is for a codec on the CPU, which backend ${backend} has not; use backend cpu`,
    )
  }
  const { maxPositions = usualMaxPositions, lanes = 1 } = options
  if (lanes > 1 && backend === 'hybrid') {
    throw new PocketTtsError(
      'invalid-option',
      `lanes is ${lanes}: lanes are of a GPU that computes both networks; use backend gpu`,
    )
  }
  for (const [name, value] of Object.entries({ maxPositions, lanes })) {
    if (!isWholeNumber(value)) throw invalidOption(name, value, 'a whole number of at least 1')
  }
  checkThreads(options)
  checkGpuTuning(options)
  return { ...options, maxPositions }
}

/** Here too, so that nothing is downloaded for a number that no machine takes. */
const checkThreads = ({ threads = 1, simd }: LoadOptions): void => {
  const { least, most } = loadCounts.threads
  if (!isWholeNumber(threads) || threads > most) {
    throw invalidOption('threads', threads, `a whole number from ${least} to ${most}`)
  }
  if (simd === 'scalar' && threads > 1) throw invalidOption('threads', threads, "1 with simd: 'scalar'")
}

/** Its numbers are checked by the executor, which alone knows its limits. */
const checkGpuTuning = ({ gpuTuning = 'auto' }: LoadOptions): void => {
  const named = Object.keys(loadChoices.gpuTuning.values)
  if (typeof gpuTuning === 'string' && named.includes(gpuTuning)) return
  const known = ['threads', 'unroll', 'workgroup', 'subgroups']
  const isTuning = typeof gpuTuning === 'object' && gpuTuning !== null
  if (isTuning && Object.keys(gpuTuning).every((name) => known.includes(name))) return
  throw invalidOption(
    'gpuTuning',
    gpuTuning,
    `one of ${named.join(', ')}, or an object with some of ${known.join(', ')}`,
  )
}

const isWholeNumber = (value: number): boolean => Number.isSafeInteger(value) && value >= 1
