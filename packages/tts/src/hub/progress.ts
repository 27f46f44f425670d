import { formatHubLocation, type HubLocation } from './location.ts'

/** How far one file has come. */
export interface DownloadProgress {
  /** `hf://owner/repo/path@revision`. */
  readonly file: string
  readonly loadedBytes: number
  /** Undefined where the server does not say. */
  readonly totalBytes: number | undefined
  /** Over the last seconds; bytes that were there already do not count. 0 before the first ones come. */
  readonly bytesPerSecond: number
}

export type ProgressListener = (progress: DownloadProgress) => void

/** Rates are those of the last three seconds: long enough to be steady, short enough to tell the truth. */
const windowMs = 3000
/** A reader can follow ten changes a second; a network brings thousands of pieces. */
const reportEveryMs = 100

/** Counts bytes and reports them, not too often, and always the last. */
export class ProgressMeter {
  readonly #file: string
  readonly #report: ProgressListener
  readonly #now: () => number
  /** Times in milliseconds with the bytes loaded by then, oldest first. */
  #marks: { at: number; loaded: number }[] = []
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(location: HubLocation, report: ProgressListener, now: () => number = () => performance.now()) {
    this.#file = formatHubLocation(location)
    this.#report = report
    this.#now = now
  }

  /** `loaded` bytes are there; the first call, and one with fewer than before, say where counting starts. */
  update(loaded: number, total: number | undefined): void {
    const at = this.#now()
    const before = this.#marks.at(-1)
    const restarted = before === undefined || loaded < before.loaded
    if (restarted) this.#marks = []
    const isLast = loaded === total
    if (!restarted && !isLast && at - this.#reportedAt < reportEveryMs) return
    this.#marks.push({ at, loaded })
    while (this.#marks.length > 2 && at - (this.#marks[0]?.at ?? at) > windowMs) this.#marks.shift()
    this.#reportedAt = at
    this.#report({
      file: this.#file,
      loadedBytes: loaded,
      totalBytes: total,
      bytesPerSecond: this.#rate(),
    })
  }

  #rate(): number {
    const first = this.#marks[0]
    const last = this.#marks.at(-1)
    if (!first || !last || last.at <= first.at) return 0
    return ((last.loaded - first.loaded) / (last.at - first.at)) * 1000
  }
}
