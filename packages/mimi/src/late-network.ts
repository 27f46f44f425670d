import type { FrameNetwork } from './frame-network.ts'

/** A network whose weights are read when it is first asked for. All who ask wait for one reading. */
export class LateNetwork {
  readonly #load: () => Promise<FrameNetwork>
  #network: Promise<FrameNetwork> | undefined

  constructor(load: () => Promise<FrameNetwork>) {
    this.#load = load
  }

  /** Rejects as reading does; whoever asks next has it read again. */
  get(): Promise<FrameNetwork> {
    this.#network ??= this.#read()
    return this.#network
  }

  async #read(): Promise<FrameNetwork> {
    try {
      return await this.#load()
    } catch (error) {
      this.#network = undefined
      throw error
    }
  }
}
