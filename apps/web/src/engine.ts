import { mini } from '@pocket/mini'
import { type LoadProgress, loadInWorker, type SpeechEngine } from '@pocket/tts'
import type { EngineSettings } from './settings.ts'

export interface LoadedEngine {
  readonly engine: SpeechEngine
  /** What it was loaded with. */
  readonly settings: EngineSettings
}

interface Held extends LoadedEngine {
  /** Utterances that are being made by it. */
  users: number
}

/**
 * The embedded model on a thread of its own, which others may replace: one that is there speaks until the next is
 * loaded, and what it has begun it finishes.
 */
export class Engines {
  #current: Held | undefined
  #loading: AbortController | undefined

  get current(): LoadedEngine | undefined {
    return this.#current
  }

  get isLoading(): boolean {
    return this.#loading !== undefined
  }

  /**
   * Loads one that computes as these settings say. Of two at once the later wins: the earlier rejects as one that was
   * cancelled does, with an AbortError. Whatever goes wrong, the current one stays.
   */
  async change(
    settings: EngineSettings,
    onProgress: (progress: LoadProgress) => void,
  ): Promise<LoadedEngine> {
    this.cancel()
    const loading = new AbortController()
    this.#loading = loading
    const { signal } = loading
    try {
      const engine = await loadInWorker(mini, { ...settings, signal, onProgress })
      const replaced = this.#current
      this.#current = { engine, settings, users: 0 }
      if (replaced) this.#letGo(replaced)
      return this.#current
    } finally {
      if (this.#loading === loading) this.#loading = undefined
    }
  }

  /** Ends the loading that is under way. */
  cancel(): void {
    this.#loading?.abort()
  }

  /** Has the current engine do something; it is there until that is done. */
  async use<Result>(work: (engine: SpeechEngine) => Promise<Result>): Promise<Result> {
    const held = this.#current
    if (!held) throw new Error('the model is not loaded yet')
    held.users++
    try {
      return await work(held.engine)
    } finally {
      held.users--
      this.#letGo(held)
    }
  }

  #letGo(held: Held): void {
    if (held !== this.#current && held.users === 0) held.engine.dispose()
  }
}
