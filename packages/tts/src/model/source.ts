import { platform } from '#platform'
import { PocketTtsError } from '../errors.ts'
import { largestConfigFile, parseConfigFile } from './config.ts'
import { type ConfigFile, checkConfigFile } from './config-schema.ts'
import { describePart, type FilePart, isFilePart, locate, readPart, type WeightsPart } from './part.ts'

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
 * A folder (a path in Node, or a URL), a config file (`.yaml`) whose paths are relative to it, or the parts.
 * A folder holds `config.yaml`, or `model.safetensors` and `tokenizer.model`; its voices are `voices/*.safetensors`
 * and `embeddings/*.safetensors`.
 */
export type ModelSource = string | URL | ModelParts

/** Where everything of a model is, and what its config file says. */
export interface ResolvedModel {
  readonly name: string | undefined
  /** Tried in order: the weights with voice cloning before those without. */
  readonly weights: readonly WeightsPart[]
  readonly tokenizer: FilePart
  readonly config: ConfigFile
  /** The config file's name for messages. */
  readonly configName: string
  readonly voices: ReadonlyMap<string, FilePart>
  /** Folders that may hold more voices than could be listed. */
  readonly voiceFolders: readonly URL[]
  readonly defaultVoice: string | undefined
}

const voiceFolderNames = ['voices/', 'embeddings/']
const voiceSuffix = '.safetensors'

/** Finds a model's files and reads its config. Throws PocketTtsError `not-found`, `invalid-model` or `unsupported`. */
export const resolveModel = (source: ModelSource, signal?: AbortSignal): Promise<ResolvedModel> => {
  if (typeof source === 'string' || source instanceof URL) {
    const url = typeof source === 'string' ? locate(source) : source
    return /\.ya?ml$/i.test(url.pathname) ? resolveConfig(url, signal) : resolveFolder(url, signal)
  }
  return resolveParts(source, signal)
}

const resolveParts = async (parts: ModelParts, signal?: AbortSignal): Promise<ResolvedModel> => {
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
      ? await readConfig(config, configName, signal)
      : checkConfigFile(config, configName),
    configName,
    voices: new Map(Object.entries(voices)),
    voiceFolders: [],
    defaultVoice,
  }
}

const resolveFolder = async (place: URL, signal?: AbortSignal): Promise<ResolvedModel> => {
  const folder = new URL(place)
  if (!folder.pathname.endsWith('/')) folder.pathname += '/'
  const files = await platform.list(folder)
  if (folder.protocol === 'file:' && !files) {
    throw new PocketTtsError('not-found', `there is no folder ${folder.href}`)
  }
  const configUrl = new URL('config.yaml', folder)
  if (!files || files.includes('config.yaml')) {
    try {
      return await resolveConfig(configUrl, signal)
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
        `${folder.href} holds neither config.yaml nor ${file}; it holds ${found}`,
      )
    }
  }
  return {
    name: folderName(folder),
    weights: [new URL('model.safetensors', folder)],
    tokenizer: new URL('tokenizer.model', folder),
    config: {},
    configName: folder.href,
    ...(await findVoices(folder)),
  }
}

const resolveConfig = async (url: URL, signal?: AbortSignal): Promise<ResolvedModel> => {
  const config = await readConfig(url, url.href, signal)
  const folder = new URL('.', url)
  const weights = [config.weights_path, config.weights_path_without_voice_cloning].filter(
    (path) => path !== undefined,
  )
  const tokenizer = config.flow_lm?.lookup_table?.tokenizer_path
  if (weights.length === 0 && (config.flow_lm?.weights_path || config.mimi?.weights_path)) {
    throw new PocketTtsError(
      'unsupported',
      `${url.href} has its weights in two files; only one combined file (weights_path) can be read yet`,
    )
  }
  const file = /([^/]+)\.ya?ml$/i.exec(url.pathname)?.[1]
  return {
    name: file && file !== 'config' ? decodeURIComponent(file) : folderName(folder),
    weights: (weights.length > 0 ? weights : ['model.safetensors']).map((path) => locate(path, folder)),
    tokenizer: locate(tokenizer ?? 'tokenizer.model', folder),
    config,
    configName: url.href,
    ...(await findVoices(folder)),
  }
}

const readConfig = async (part: FilePart, where: string, signal?: AbortSignal): Promise<ConfigFile> =>
  parseConfigFile(await readPart(part, { signal, maxBytes: largestConfigFile }), where)

const folderName = (folder: URL): string | undefined => {
  const last = folder.pathname.split('/').filter(Boolean).at(-1)
  return last && decodeURIComponent(last)
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
