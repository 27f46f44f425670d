import { FlowLm } from '@pocket/flowlm'
import { isOfEncoder, type LendWeights, MimiCodec } from '@pocket/mimi'
import type { Kernels, WeightReader } from '@pocket/nn'
import type { LoadOptions, LoadProgress } from '../load-options.ts'
import type { ConfigFile } from '../model/config-schema.ts'
import { meteredReader } from '../model/metered-reader.ts'

/** A model's weights, open, and how the networks are to be made of them. */
export interface NetworkFiles {
  readonly weights: WeightReader
  readonly config: ConfigFile
  /** Lends the weights once more, when the codec's encoder is needed; undefined: it is read with all else. */
  readonly reopen?: LendWeights | undefined
  readonly options: Pick<LoadOptions, 'signal' | 'onProgress' | 'precision' | 'codecPrecision' | 'gpuTuning'>
}

/** The language model on an executor. Throws FlowLmError, KernelError, the signal's reason. */
export const loadFlowLm = (
  { weights, config: { flow_lm }, options }: NetworkFiles,
  kernels: Kernels,
  promptRows?: readonly number[],
): Promise<FlowLm> =>
  FlowLm.load(
    metered(weights, (name) => name.startsWith('flow_lm.'), 'language-model', options),
    kernels,
    {
      ...defined({ precision: options.precision, promptRows }),
      config: defined({
        heads: flow_lm?.transformer?.num_heads,
        maxPeriod: flow_lm?.transformer?.max_period,
        insertBosBeforeVoice: flow_lm?.insert_bos_before_voice,
      }),
    },
  )

/** The codec on an executor. Throws MimiError, KernelError, the signal's reason. */
export const loadCodec = (
  { weights, config: { mimi }, reopen, options }: NetworkFiles,
  kernels: Kernels,
): Promise<MimiCodec> =>
  MimiCodec.load(
    metered(weights, (name) => name.startsWith('mimi.') && !(reopen && isOfEncoder(name)), 'codec', options),
    kernels,
    defined({
      heads: mimi?.transformer?.num_heads,
      context: mimi?.transformer?.context,
      maxPeriod: mimi?.transformer?.max_period,
      frameRate: mimi?.frame_rate,
    }),
    defined({ precision: options.codecPrecision, reopen }),
  )

const metered = (
  weights: WeightReader,
  counted: (name: string) => boolean,
  stage: LoadProgress['stage'],
  { signal, onProgress }: NetworkFiles['options'],
): WeightReader =>
  meteredReader(weights, counted, {
    signal,
    onBytes: (loadedBytes, totalBytes) => onProgress?.({ stage, loadedBytes, totalBytes }),
  })

/** Without the members that are undefined: "not stated" and "stated as undefined" are two things to callees. */
export const defined = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
