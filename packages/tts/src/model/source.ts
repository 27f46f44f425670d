import { platform } from '#platform'
import { findCheckpoint, looksLikeCheckpointId, lookUpCheckpoint } from '../catalogue/find-checkpoint.ts'
import { PocketTtsError } from '../errors.ts'
import { fromHubUrl, isHubUrl } from '../hub/hub-url.ts'
import { resolveCheckpoint } from './checkpoint-source.ts'
import { largestConfigFile, parseConfigFile } from './config.ts'
import { type ConfigFile, checkConfigFile } from './config-schema.ts'
import {
  describePart,
  describeUrl,
  type FilePart,
  isFilePart,
  locate,
  type PartOptions,
  readPart,
  type WeightsPart,
} from './part.ts'
import type { ResolvedModel } from './resolved-model.ts'

/** A model by its parts; `@pocket/mini` exports such an object. */
export interface ModelParts {
  /** The weights of both networks, in one safetensors file. */
  readonly model: WeightsPart
  /** A SentencePiece unigram model. */
  readonly tokenizer: FilePart
  /** A config file of the reference, or an object with the same keys. Paths in it are not followed. */
  readonly config?: FilePart | ConfigFile
  /** Voice files by name. */
  readonly voices?: Readonly<Record<string, FilePart>>
  /** One of `voices`; else the first by name. */
  readonly defaultVoice?: string
  /** What the model is called in voice files and messages. */
  readonly name?: string
}

/**
 * The id of a published checkpoint (`english`, `german_24l`); a folder (a path in Node, a URL, or `hf://owner/repo/path`);
 * a config file (`.yaml`) whose paths are relative to it; or the parts.
 *
 * A folder holds `config.yaml`, or `model.safetensors` and `tokenizer.model`; its voices are `voices/*.safetensors`
 * and `embeddings/*.safetensors`. A folder that is called like a checkpoint is written with a slash: `./german`.
 */
export type ModelSource = string | URL | ModelParts

const voiceFolderNames = ['voices/', 'embeddings/']
const voiceSuffix = '.safetensors'

/**
 * Finds a model's files and reads its config. Throws PocketTtsError `not-found`, `unknown-model`, `invalid-model`,
 * `invalid-option`, or as `Hub.download` does.
 */
export const resolveModel = async (source: ModelSource, options: PartOptions): Promise<ResolvedModel> => {
  if (typeof source !== 'string' && !(source instanceof URL)) return resolveParts(source, options)
  if (typeof source === 'string' && looksLikeCheckpointId(source)) {
    const checkpoint = lookUpCheckpoint(source)
    if (checkpoint) return resolveCheckpoint(checkpoint, options)
  }
  const url = typeof source === 'string' ? locate(source) : source
  if (!URL.canParse('.', url)) {
    throw new PocketTtsError(
      'invalid-option',
      `${describePart(url)} is a single file; a model is several, and given as { model, tokenizer }`,
    )
  }
  if (/\.ya?ml$/i.test(url.pathname)) return resolveConfig(url, options)
  const files = await platform.list(withSlash(url))
  // One word that is no folder is meant to be a checkpoint.
  const isWord = typeof source === 'string' && looksLikeCheckpointId(source)
  if (isWord && !files && url.protocol === 'file:') return resolveCheckpoint(findCheckpoint(source), options)
  return resolveFolder(withSlash(url), files, options)
}

const withSlash = (place: URL): URL => {
  const folder = new URL(place)
  if (!folder.pathname.endsWith('/')) folder.pathname += '/'
  return folder
}

const resolveParts = async (parts: ModelParts, options: PartOptions): Promise<ResolvedModel> => {
  if (typeof parts !== 'object' || parts === null || !parts.model || !parts.tokenizer) {
    throw new PocketTtsError(
      'invalid-option',
      "the model source must be a folder, a URL, or an object with 'model' and 'tokenizer'",
    )
  }
  const { model, tokenizer, config = {}, voices = {}, defaultVoice, name } = parts
  if (defaultVoice !== undefined && !Object.hasOwn(voices, defaultVoice)) {
    throw new PocketTtsError(
      'invalid-option',
      `defaultVoice is '${defaultVoice}', which is none of the voices: ${Object.keys(voices).join(', ')}`,
    )
  }
  const configName = isFilePart(config) ? describePart(config) : 'config'
  return {
    name,
    weights: [model],
    tokenizer,
    config: isFilePart(config)
      ? await readConfig(config, configName, options)
      : checkConfigFile(config, configName),
    configName,
    voices: new Map(Object.entries(voices)),
    voiceFolders: [],
    defaultVoice,
  }
}

const resolveFolder = async (
  folder: URL,
  files: readonly string[] | undefined,
  options: PartOptions,
): Promise<ResolvedModel> => {
  if (folder.protocol === 'file:' && !files) {
    throw new PocketTtsError('not-found', `there is no folder ${describeUrl(folder)}`)
  }
  const configUrl = new URL('config.yaml', folder)
  if (!files || files.includes('config.yaml')) {
    try {
      return await resolveConfig(configUrl, options)
    } catch (error) {
      // A server cannot say beforehand whether the folder has a config; a model without one is whole.
      const mayLackConfig = !files && error instanceof PocketTtsError && error.code === 'not-found'
      if (!mayLackConfig) throw error
    }
  }
  for (const file of ['model.safetensors', 'tokenizer.model']) {
    if (files && !files.includes(file)) {
      const found = files.length > 0 ? files.slice(0, 20).join(', ') : 'nothing'
      throw new PocketTtsError(
        'not-found',
        `${describeUrl(folder)} holds neither config.yaml nor ${file}; it holds ${found}`,
      )
    }
  }
  return {
    name: folderName(folder),
    weights: [new URL('model.safetensors', folder)],
    tokenizer: new URL('tokenizer.model', folder),
    config: {},
    configName: describePart(folder),
    ...(await findVoices(folder)),
  }
}

const resolveConfig = async (url: URL, options: PartOptions): Promise<ResolvedModel> => {
  const configName = describePart(url)
  const config = await readConfig(url, configName, options)
  const folder = new URL('.', url)
  const tokenizer = config.flow_lm?.lookup_table?.tokenizer_path
  const file = /([^/]+)\.ya?ml$/i.exec(url.pathname)?.[1]
  return {
    name: file && file !== 'config' ? decoded(file) : folderName(folder),
    weights: weightsOf(config, folder, configName),
    tokenizer: locate(tokenizer ?? 'tokenizer.model', folder),
    config,
    configName,
    ...(await findVoices(folder)),
  }
}

/** One combined file where the config names any, else a file for each network. */
const weightsOf = (config: ConfigFile, folder: URL, configName: string): ResolvedModel['weights'] => {
  const combined = [config.weights_path, config.weights_path_without_voice_cloning].filter(
    (path) => path !== undefined,
  )
  const [flowLm, mimi] = [config.flow_lm?.weights_path, config.mimi?.weights_path]
  if (combined.length > 0 || (flowLm === undefined && mimi === undefined)) {
    return (combined.length > 0 ? combined : ['model.safetensors']).map((path) => locate(path, folder))
  }
  if (flowLm !== undefined && mimi !== undefined) {
    return [{ flowLm: locate(flowLm, folder), mimi: locate(mimi, folder) }]
  }
  const [stated, missing] = flowLm === undefined ? ['mimi', 'flow_lm'] : ['flow_lm', 'mimi']
  throw new PocketTtsError(
    'invalid-model',
    `${configName} has ${stated}.weights_path but not ${missing}.weights_path; state both, or one weights_path`,
  )
}

const readConfig = async (part: FilePart, where: string, options: PartOptions): Promise<ConfigFile> =>
  parseConfigFile(await readPart(part, { ...options, maxBytes: largestConfigFile }), where)

const folderName = (folder: URL): string | undefined => {
  if (isHubUrl(folder)) {
    const { path, repo } = fromHubUrl(folder)
    return path.split('/').at(-1) || repo
  }
  const last = folder.pathname.split('/').filter(Boolean).at(-1)
  return last && decoded(last)
}

/** A server's names may hold a `%` that begins no escape; such a name stays as it is. */
const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

const findVoices = async (
  folder: URL,
): Promise<Pick<ResolvedModel, 'voices' | 'voiceFolders' | 'defaultVoice'>> => {
  const voices = new Map<string, FilePart>()
  const voiceFolders: URL[] = []
  for (const name of voiceFolderNames) {
    const voiceFolder = new URL(name, folder)
    const files = await platform.list(voiceFolder)
    if (!files && folder.protocol !== 'file:') voiceFolders.push(voiceFolder)
    for (const file of files ?? []) {
      if (!file.endsWith(voiceSuffix)) continue
      const voice = file.slice(0, -voiceSuffix.length)
      // A voice in both folders is the one in the first.
      if (!voices.has(voice)) voices.set(voice, platform.toUrl(file, voiceFolder))
    }
  }
  return { voices, voiceFolders, defaultVoice: undefined }
}
