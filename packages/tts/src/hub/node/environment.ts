import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { officialEndpoint } from '../hub-url.ts'
import { checkEndpoint, checkToken, type HubOptions, type HubSettings } from '../settings.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface NodeHubSettings extends HubSettings {
  readonly cacheDir: string
}

/**
 * Options first, then the environment as `huggingface_hub/constants.py` reads it, so that every tool on a machine
 * agrees. An empty variable counts as none. Throws PocketTtsError `invalid-option`.
 */
export const readSettings = (options: HubOptions, environment: Environment): NodeHubSettings => {
  const { endpoint, offline, cacheDir } = options
  const variable = environment.HF_ENDPOINT || officialEndpoint
  return {
    endpoint:
      endpoint === undefined ? checkEndpoint(variable, 'HF_ENDPOINT') : checkEndpoint(endpoint, 'endpoint'),
    offline: offline ?? (isTrue(environment.HF_HUB_OFFLINE) || isTrue(environment.TRANSFORMERS_OFFLINE)),
    cacheDir: resolve(cacheDir ?? cacheFolder(environment)),
    ...readToken(options, environment),
  }
}

const isTrue = (value: string | undefined): boolean => /^(1|on|yes|true)$/i.test(value ?? '')

const hubHome = ({ HF_HOME, XDG_CACHE_HOME }: Environment): string =>
  expand(HF_HOME || join(XDG_CACHE_HOME || join('~', '.cache'), 'huggingface'))

const cacheFolder = (environment: Environment): string => {
  const { HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE } = environment
  const stated = HF_HUB_CACHE || HUGGINGFACE_HUB_CACHE
  return stated ? expand(stated) : join(hubHome(environment), 'hub')
}

const expand = (path: string): string => (/^~(?=$|[/\\])/.test(path) ? join(homedir(), path.slice(1)) : path)

const readToken = (
  { token }: HubOptions,
  environment: Environment,
): Pick<HubSettings, 'token' | 'tokenSource'> => {
  if (token === false) return { token: undefined, tokenSource: undefined }
  if (token !== undefined) return { token: checkToken(token, 'the option'), tokenSource: 'the option' }
  for (const tokenSource of ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN']) {
    const value = environment[tokenSource]
    if (value) return { token: checkToken(value, tokenSource), tokenSource }
  }
  const path = expand(environment.HF_TOKEN_PATH || join(hubHome(environment), 'token'))
  const stored = isTrue(environment.HF_HUB_DISABLE_IMPLICIT_TOKEN) ? undefined : readTokenFile(path)
  if (!stored?.trim()) return { token: undefined, tokenSource: undefined }
  return { token: checkToken(stored, path), tokenSource: path }
}

/** A file of one line, which `hf auth login` writes. */
const readTokenFile = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
