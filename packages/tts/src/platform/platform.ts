import type { SafeTensors, TensorReader } from '@pocket/safetensors'

export interface ReadOptions {
  /** Stops the read, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called as bytes arrive; `total` where the source says it. */
  readonly onBytes?: ((loaded: number, total: number | undefined) => void) | undefined
  /** Refuses to hold more than this many bytes. */
  readonly maxBytes?: number | undefined
}

/** Weights that can be read, and what lets go of them. */
export interface OpenWeights {
  readonly reader: SafeTensors | TensorReader
  close(): Promise<void>
}

/**
 * What Node and browsers do differently: where a path leads and how its bytes are had. `#platform` in the package's
 * imports map names one of the two; nothing else in this package knows which it runs on.
 */
export interface Platform {
  /** A path as a URL, relative to `base`, else to the working directory or the page. */
  toUrl(path: string, base?: URL): URL
  /** The whole of a file. Throws PocketTtsError `not-found` when it cannot be had, `invalid-model` beyond maxBytes. */
  read(url: URL, options?: ReadOptions): Promise<Uint8Array>
  /** A safetensors file, its tensors read one by one where the platform can. Throws as `read`, and SafeTensorsError. */
  openWeights(url: URL, options?: ReadOptions): Promise<OpenWeights>
  /** The names in a folder; undefined where folders cannot be listed, or there is none. */
  list(folder: URL): Promise<string[] | undefined>
  /** Whether looking for a GPU is worth it; false only where there is none for certain. */
  mayHaveGpu(): boolean
}
