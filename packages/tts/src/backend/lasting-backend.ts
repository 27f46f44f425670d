import { KernelError } from '@pocket/nn'
import { gpuLost, PocketTtsError } from '../errors.ts'
import { orAborted } from '../generate/job.ts'
import type { Backend } from './backend.ts'
import type { NetworkFiles } from './networks.ts'

/** Opens a model's weights, has them read, and closes them. Stops when the signal is aborted. */
export type Reopen = <Made>(
  use: (files: NetworkFiles) => Promise<Made>,
  signal?: AbortSignal,
) => Promise<Made>

/** A backend while somebody computes with it. */
export interface Lease {
  readonly backend: Backend
  /** Whether that is an error of a GPU that is gone; from then on others get another backend. */
  isLoss(error: unknown): boolean
  /** Once, when done. */
  release(): void
}

interface Entry {
  readonly backend: Backend
  users: number
  isLost: boolean
}

/**
 * A model's backend for as long as the model lives. One whose GPU is lost is made anew, from the files, when somebody
 * wants it next; whoever still computes with the lost one finds out by an error and lets go of it.
 */
export class LastingBackend {
  #entry: Entry
  /** Given up with the last backend that can be lost: it may hold the weights' bytes. */
  #reopen: Reopen | undefined
  readonly #stop = new AbortController()
  #remaking: Promise<void> | undefined

  /** Takes `backend` over. */
  constructor(backend: Backend, reopen: Reopen) {
    this.#entry = watched(backend)
    if (backend.remake) this.#reopen = reopen
  }

  /** As it was made last, be its GPU there or not. */
  get latest(): Backend {
    return this.#entry.backend
  }

  /** Whether its GPU may be lost, and it goes on afterwards. */
  get canBeLost(): boolean {
    return this.latest.remake !== undefined
  }

  /**
   * A backend that works, as far as is known. Throws PocketTtsError `gpu-lost` where it cannot be made anew, `disposed`;
   * the signal's reason.
   */
  async lease(signal?: AbortSignal): Promise<Lease> {
    if (this.#entry.isLost) await this.#remade(signal)
    const entry = this.#entry
    entry.users++
    return {
      backend: entry.backend,
      isLoss: (error) => {
        if (error instanceof KernelError && error.code === 'device-lost') entry.isLost = true
        return entry.isLost
      },
      release: () => {
        entry.users--
        this.#disposeIfLeft(entry)
      },
    }
  }

  /** What `use` makes of a backend; after a loss it is asked once more. Throws as `lease`, and what `use` throws. */
  async with<T>(use: (backend: Backend) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const mayBeAskedAgain = this.canBeLost
    const lease = await this.lease(signal)
    try {
      return await use(lease.backend)
    } catch (error) {
      signal?.throwIfAborted()
      if (!mayBeAskedAgain || !lease.isLoss(error)) throw error
    } finally {
      lease.release()
    }
    const another = await this.lease(signal)
    try {
      return await use(another.backend)
    } catch (error) {
      throw another.isLoss(error) ? gpuLost(error) : error
    } finally {
      another.release()
    }
  }

  /** Nobody may compute with it any more. */
  dispose(): void {
    this.#stop.abort(new PocketTtsError('disposed', 'this PocketTts was disposed; load another'))
    this.#entry.backend.dispose()
  }

  /** One at a time, for all who wait. It goes on when they leave: the next one to speak wants it. */
  async #remade(signal: AbortSignal | undefined): Promise<void> {
    this.#remaking ??= this.#remake().finally(() => {
      this.#remaking = undefined
    })
    await (signal ? orAborted(this.#remaking, signal) : this.#remaking)
  }

  async #remake(): Promise<void> {
    const lost = this.#entry
    const backend = await this.#another(lost.backend)
    this.#entry = watched(backend)
    if (!backend.remake) this.#reopen = undefined
    this.#disposeIfLeft(lost)
  }

  async #another({ remake }: Backend): Promise<Backend> {
    const { signal } = this.#stop
    if (!remake || !this.#reopen) throw new Error('a backend that cannot be lost is lost')
    try {
      const backend = await this.#reopen(remake, signal)
      if (!signal.aborted) return backend
      backend.dispose()
    } catch (error) {
      if (!signal.aborted) throw gpuLost(error)
    }
    throw signal.reason
  }

  #disposeIfLeft(entry: Entry): void {
    if (entry !== this.#entry && entry.users === 0) entry.backend.dispose()
  }
}

const watched = (backend: Backend): Entry => {
  const entry: Entry = { backend, users: 0, isLost: false }
  backend.lost?.then(() => {
    entry.isLost = true
  })
  return entry
}
