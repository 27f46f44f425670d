import { FlowLm, FlowLmError } from '@pocket/flowlm'
import { type CpuKernels, createCpuKernels } from '@pocket/kernels-cpu'
import { MimiCodec, MimiError } from '@pocket/mimi'
import type { WeightReader } from '@pocket/nn'
import { SafeTensorsError } from '@pocket/safetensors'
import { SentencePieceError, SentencePieceUnigram } from '@pocket/sentencepiece'
import { PocketTtsError } from '../errors.ts'
import type { Warning } from '../generate/utterance.ts'
import type { LoadOptions, LoadProgress } from '../load-options.ts'
import type { OpenWeights } from '../platform/platform.ts'
import { checkAgreement } from './agreement.ts'
import { type PocketConfig, toPocketConfig } from './config.ts'
import type { ConfigFile } from './config-schema.ts'
import { fingerprint } from './fingerprint.ts'
import { meteredReader } from './metered-reader.ts'
import {
  describePart,
  openWeightsPart,
  type PartOptions,
  readPart,
  type TwoFiles,
  type WeightsPart,
} from './part.ts'
import type { ResolvedModel } from './resolved-model.ts'
import { withoutVoiceCloning } from './voice-cloning.ts'

/** Everything that speech is made with. */
export interface LoadedModel {
  readonly kernels: CpuKernels
  readonly flowLm: FlowLm
  readonly codec: MimiCodec
  readonly tokenizer: SentencePieceUnigram
  readonly config: PocketConfig
  readonly warnings: readonly Warning[]
}

/** A tokenizer of 4000 pieces takes 60 kB. */
const largestTokenizer = 1 << 26

/**
 * Reads a model into memory, both networks on one executor. What is small is checked first.
 * Throws PocketTtsError `not-found` or `invalid-model`, or as `Hub.download` does; KernelError; the signal's reason.
 */
export const loadModel = async (
  model: ResolvedModel,
  options: LoadOptions,
  parts: PartOptions,
): Promise<LoadedModel> => {
  const { signal } = options
  const tokenizer = await loadTokenizer(model, parts)
  signal?.throwIfAborted()
  const { part, weights, warnings } = await openFirst(model.weights, {
    ...parts,
    onBytes: reportTo(options.onProgress, 'download'),
  })
  const where = `the weights in ${describePart(part)}`
  try {
    const { reader } = weights
    checkAgreement(model.config, reader, model.configName)
    checkTokenizer(tokenizer, reader, model)
    const sha256 = await fingerprint(reader)
    const networks = await loadNetworks(reader, model.config, options)
    const config = toPocketConfig(model.config, {
      modelId: model.name ?? `sha256:${sha256.slice(0, 12)}`,
      sha256,
      insertBosBeforeVoice: networks.flowLm.config.insertBosBeforeVoice,
    })
    return { ...networks, tokenizer, config, warnings: [...(model.warnings ?? []), ...warnings] }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw asModelError(error, where)
  } finally {
    await weights.close()
  }
}

/** Why weights may not be had although nothing is wrong with the model: then those without voice cloning may do. */
const mayFallBack: ReadonlySet<string> = new Set(['not-found', 'access-denied', 'offline', 'download-failed'])

/** Weights with voice cloning come first; where they cannot be had, those without do, and a warning says why. */
const openFirst = async (
  parts: ResolvedModel['weights'],
  options: PartOptions,
): Promise<{ part: WeightsPart | TwoFiles; weights: OpenWeights; warnings: Warning[] }> => {
  const warnings: Warning[] = []
  for (const [index, part] of parts.entries()) {
    try {
      return { part, weights: await openWeightsPart(part, options), warnings }
    } catch (error) {
      const isLast = index === parts.length - 1
      if (isLast || !(error instanceof PocketTtsError && mayFallBack.has(error.code))) throw error
      warnings.push(withoutVoiceCloning(error.message))
    }
  }
  throw new PocketTtsError('invalid-model', 'the model names no weights')
}

const loadTokenizer = async (model: ResolvedModel, options: PartOptions): Promise<SentencePieceUnigram> => {
  const bytes = await readPart(model.tokenizer, { ...options, maxBytes: largestTokenizer })
  try {
    return SentencePieceUnigram.fromBytes(bytes)
  } catch (error) {
    throw asModelError(error, `the tokenizer in ${describePart(model.tokenizer)}`)
  }
}

/** The embedding has a row for every piece, and one for padding. */
const checkTokenizer = (
  tokenizer: SentencePieceUnigram,
  weights: WeightReader,
  model: ResolvedModel,
): void => {
  const name = ['flow_lm.conditioner.embed.weight', 'conditioner.embed.weight'].find((each) =>
    weights.has(each),
  )
  if (name === undefined) return
  const [rows = 0] = weights.info(name).shape
  if (tokenizer.vocabSize === rows - 1) return
  throw new PocketTtsError(
    'invalid-model',
    `the tokenizer in ${describePart(model.tokenizer)} has ${tokenizer.vocabSize} pieces, but ${name} has ${rows} ` +
      `rows, for ${rows - 1} pieces: tokenizer and weights belong to two models`,
  )
}

const loadNetworks = async (
  weights: WeightReader,
  { flow_lm, mimi }: ConfigFile,
  { signal, onProgress, precision, simd, threads }: LoadOptions,
): Promise<Pick<LoadedModel, 'kernels' | 'flowLm' | 'codec'>> => {
  const metered = (prefix: string, stage: LoadProgress['stage']): WeightReader =>
    meteredReader(weights, prefix, { signal, onBytes: reportTo(onProgress, stage) })
  const kernels = await createCpuKernels(defined({ simd, threads }))
  try {
    const flowLm = await FlowLm.load(metered('flow_lm.', 'language-model'), kernels, {
      ...defined({ precision }),
      config: defined({
        heads: flow_lm?.transformer?.num_heads,
        maxPeriod: flow_lm?.transformer?.max_period,
        insertBosBeforeVoice: flow_lm?.insert_bos_before_voice,
      }),
    })
    const codec = await MimiCodec.load(
      metered('mimi.', 'codec'),
      kernels,
      defined({
        heads: mimi?.transformer?.num_heads,
        context: mimi?.transformer?.context,
        maxPeriod: mimi?.transformer?.max_period,
        frameRate: mimi?.frame_rate,
      }),
    )
    return { kernels, flowLm, codec }
  } catch (error) {
    kernels.dispose()
    throw error
  }
}

const reportTo =
  (onProgress: LoadOptions['onProgress'], stage: LoadProgress['stage']) =>
  (loadedBytes: number, totalBytes: number | undefined): void =>
    onProgress?.({ stage, loadedBytes, totalBytes })

/** Without the members that are undefined: "not stated" and "stated as undefined" are two things to callees. */
const defined = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** What the file formats and networks refuse is a fault of the model; a machine's lacks stay KernelErrors. */
const asModelError = (error: unknown, where: string): unknown => {
  const isOfModel =
    error instanceof SafeTensorsError ||
    error instanceof SentencePieceError ||
    error instanceof FlowLmError ||
    error instanceof MimiError
  return isOfModel
    ? new PocketTtsError('invalid-model', `${where}: ${error.message}`, { cause: error })
    : error
}
