import { FlowLmError } from '@pocket/flowlm'
import { type LendWeights, MimiError } from '@pocket/mimi'
import type { WeightReader } from '@pocket/nn'
import { SafeTensorsError } from '@pocket/safetensors'
import { SentencePieceError, SentencePieceUnigram } from '@pocket/sentencepiece'
import { LastingBackend, type Reopen } from '../backend/lasting-backend.ts'
import { loadBackend } from '../backend/load-backend.ts'
import { PocketTtsError } from '../errors.ts'
import type { Warning } from '../generate/utterance.ts'
import type { LoadOptions, LoadProgress } from '../load-options.ts'
import type { OpenWeights } from '../platform/platform.ts'
import { checkAgreement } from './agreement.ts'
import { type PocketConfig, toPocketConfig } from './config.ts'
import { fingerprint } from './fingerprint.ts'
import {
  describePart,
  isInFile,
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
  readonly backend: LastingBackend
  readonly tokenizer: SentencePieceUnigram
  readonly config: PocketConfig
  readonly warnings: readonly Warning[]
}

/** A tokenizer of 4000 pieces takes 60 kB. */
const largestTokenizer = 1 << 26

/**
 * Reads a model into memory, its networks where they are to be computed. What is small is checked first.
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
    const { reopen, encoder } = reopening(part, { model, options, hub: parts.hub, sha256 })
    const backend = await loadBackend(
      { weights: reader, config: model.config, reopen: encoder, options },
      options,
      (warning) => warnings.push(warning),
    )
    const config = toPocketConfig(model.config, {
      modelId: model.name ?? `sha256:${sha256.slice(0, 12)}`,
      sha256,
      insertBosBeforeVoice: backend.flowLm.config.insertBosBeforeVoice,
    })
    return {
      backend: new LastingBackend(backend, reopen),
      tokenizer,
      config,
      warnings: [...(model.warnings ?? []), ...warnings],
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw asModelError(error, where)
  } finally {
    await weights.close()
  }
}

/** The same weights once more, after loading. What loading was told does not concern it. */
const reopening = (
  part: WeightsPart | TwoFiles,
  {
    model,
    options: { precision, codecPrecision, gpuTuning, cloning },
    hub,
    sha256,
  }: Pick<PartOptions, 'hub'> & { model: ResolvedModel; options: LoadOptions; sha256: string },
): { reopen: Reopen; encoder: LendWeights | undefined } => {
  const where = `the weights in ${describePart(part)}`
  const reopen: Reopen = async (use, signal) => {
    const { reader, close } = await openWeightsPart(part, { hub, signal })
    try {
      if ((await fingerprint(reader)) !== sha256) {
        throw new PocketTtsError('invalid-model', `${where} have changed since`)
      }
      return await use({
        weights: reader,
        config: model.config,
        reopen: encoder,
        options: { precision, codecPrecision, gpuTuning, signal },
      })
    } catch (error) {
      throw asModelError(error, where)
    } finally {
      await close()
    }
  }
  const encoder: LendWeights | undefined =
    cloning !== 'ready' && isInFile(part) ? (use) => reopen(({ weights }) => use(weights)) : undefined
  return { reopen, encoder }
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

const reportTo =
  (onProgress: LoadOptions['onProgress'], stage: LoadProgress['stage']) =>
  (loadedBytes: number, totalBytes: number | undefined): void =>
    onProgress?.({ stage, loadedBytes, totalBytes })

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
