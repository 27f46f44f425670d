import { PocketTtsError } from '../errors.ts'
import { fetchBytes, fetchWeights } from './fetch.ts'
import type { Platform } from './platform.ts'

/** Pages and workers: everything is fetched, nothing can be listed. */
export const platform: Platform = {
  toUrl(path, base) {
    const start = base ?? pageUrl()
    try {
      return new URL(path, start)
    } catch (cause) {
      throw new PocketTtsError('not-found', `'${path}' is no URL, and no path from ${start ?? 'here'}`, {
        cause,
      })
    }
  },
  read: fetchBytes,
  openWeights: fetchWeights,
  list: async () => undefined,
  mayHaveGpu: () => 'gpu' in globalThis.navigator,
}

/** A document's base, which `<base>` may move, else a worker's own script. */
const pageUrl = (): string | undefined => globalThis.document?.baseURI ?? globalThis.location?.href
