import { KernelError } from '@pocket/nn'
import { threads as platform } from '#threads'
import type { ThreadJob, ThreadLink } from '../threads/thread.ts'
import type { KernelExports, Runner } from './runner.ts'

/** The functions of assembly/shared.ts; see assembly/crew.ts. Addresses are bytes from the start of the memory. */
export interface CrewExports extends KernelExports {
  assemble(
    crew: number,
    hostSleeps: number,
    idleLooks: number,
    waitingLooks: number,
    mostNaps: number,
    fewNaps: number,
  ): void
  look(crew: number, times: number): void
  run(crew: number, program: number): number
  isScattered(crew: number): number
  gather(crew: number): void
  start(crew: number, program: number): void
  finish(crew: number): number
  serve(crew: number, thread: number): void
  fail(crew: number): void
  dismiss(crew: number): void
}

/** Longer than between two frames, far shorter than anyone's idle time counts. */
const idleMs = 1.5

/** A piece takes less; then the thread that holds it may need this one's processor. */
const waitingMs = 0.3

/** Ten seconds without a piece being done. */
const longestWaitMs = 10_000

/** The work is not shared any more after so many naps within so short a time. */
const fewNaps = 3
const fewNapsMs = 100

/** For how long not: at first, and at most, where that happens again soon after. */
const shortestBreakMs = 50
const longestBreakMs = 2000

/** A thread that has not begun after ten seconds never will. */
const longestStartMs = 10_000

/** Why threads cannot share memory here; undefined where they can. */
export const obstacleToThreads = (): string | undefined => {
  if (typeof SharedArrayBuffer === 'undefined') return 'there is no SharedArrayBuffer'
  return platform.obstacle()
}

/** The host and threads that help it. See assembly/crew.ts. */
export class Crew implements Runner {
  readonly threads: number
  readonly #kernels: CrewExports
  readonly #address: number
  readonly #links: ThreadLink[] = []
  #failure: KernelError | undefined
  #onBreak = false
  #breakMs = shortestBreakMs
  /** When the last break began, or ended. */
  #changedAt = Number.NEGATIVE_INFINITY
  #gatheredAt = Number.NEGATIVE_INFINITY

  private constructor(kernels: CrewExports, address: number, threads: number) {
    this.threads = threads
    this.#kernels = kernels
    this.#address = address
    kernels.assemble(address, 0, 0, 0, 0, 0)
    const looks = looksPerMs(kernels, address)
    const hostSleeps = maySleep()
    const mostNaps = longestWaitMs / (hostSleeps ? 1 : waitingMs)
    kernels.assemble(address, hostSleeps ? 1 : 0, looks * idleMs, looks * waitingMs, mostNaps, fewNaps)
  }

  /**
   * Starts `threads` − 1 threads at `address`, where there is room for a crew. Throws KernelError `unavailable` where one
   * cannot start.
   */
  static async assemble(
    kernels: CrewExports,
    job: Omit<ThreadJob, 'thread'>,
    threads: number,
  ): Promise<Crew> {
    const crew = new Crew(kernels, job.crew, threads)
    forgotten.register(crew, crew.#links)
    try {
      const weakly = new WeakRef(crew)
      await Promise.all(
        Array.from({ length: threads - 1 }, (_, i) =>
          Crew.#start({ ...job, thread: i + 1 }, weakly, crew.#links),
        ),
      )
    } catch (cause) {
      crew.dispose()
      throw new KernelError('unavailable', `threads: ${threads} asked for, but one could not start`, {
        cause,
      })
    }
    return crew
  }

  run(program: number): void {
    this.#check()
    this.#endBreak()
    if (!this.#kernels.run(this.#address, program)) throw this.#fail('it holds work that it does not end')
    this.#beginBreak()
  }

  start(program: number): void {
    this.#check()
    this.#endBreak()
    this.#kernels.start(this.#address, program)
  }

  finish(): void {
    this.#check()
    if (!this.#kernels.finish(this.#address)) throw this.#fail('it holds work that it does not end')
    this.#beginBreak()
  }

  dispose(): void {
    this.#failure ??= new KernelError('disposed', 'the executor was disposed')
    this.#kernels.dismiss(this.#address)
    endThreads(this.#links)
  }

  /** In a function without `this`: what a thread's listeners remember must not keep the crew alive. */
  static #start(job: ThreadJob, crew: WeakRef<Crew>, links: ThreadLink[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (cause: unknown): void => {
        clearTimeout(timer)
        reject(cause)
      }
      const timer = setTimeout(() => giveUp(new Error('it has not begun')), longestStartMs)
      const onReady = (): void => {
        clearTimeout(timer)
        resolve()
      }
      const onLost = (cause: unknown): void => {
        giveUp(cause)
        const known = crew.deref()
        if (known) known.#fail('it has ended', cause)
      }
      try {
        links.push(platform.startThread(job, { onReady, onLost }))
      } catch (error) {
        giveUp(error)
      }
    })
  }

  /** On a busy machine the host does all of the work itself, and tries now and then whether that is over. */
  #beginBreak(): void {
    if (this.#onBreak || !this.#kernels.isScattered(this.#address)) return
    const now = performance.now()
    const isSoon = now - this.#changedAt < this.#breakMs
    this.#breakMs = isSoon ? Math.min(2 * this.#breakMs, longestBreakMs) : shortestBreakMs
    this.#onBreak = true
    this.#changedAt = now
  }

  #endBreak(): void {
    const now = performance.now()
    if (this.#onBreak) {
      if (now - this.#changedAt < this.#breakMs) return
      this.#onBreak = false
      this.#changedAt = now
    } else if (now - this.#gatheredAt < fewNapsMs) return
    this.#gatheredAt = now
    this.#kernels.gather(this.#address)
  }

  #check(): void {
    if (this.#failure) throw this.#failure
  }

  /** Nothing can be relied on any more. */
  #fail(what: string, cause?: unknown): KernelError {
    if (!this.#failure) {
      const message = `a thread of the executor has failed: ${what}. Make another executor`
      this.#failure = new KernelError('thread-failed', message, { cause })
      this.#kernels.dismiss(this.#address)
      endThreads(this.#links)
    }
    return this.#failure
  }
}

const endThreads = (links: ThreadLink[]): void => {
  for (const link of links.splice(0)) link.terminate()
}

/** Ends the threads of crews that nobody disposed of. */
const forgotten = new FinalizationRegistry(endThreads)

/** Whether this thread may sleep until another wakes it: the main thread of a page must not. */
const maySleep = (): boolean => {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0)
    return true
  } catch {
    return false
  }
}

/** How often a thread looks for work in a millisecond. Clocks may be coarse: what they say is kept within reason. */
const looksPerMs = (kernels: CrewExports, crew: number): number => {
  const looks = 50_000
  const begin = performance.now()
  kernels.look(crew, looks)
  const elapsed = performance.now() - begin
  return Math.round(Math.min(Math.max(looks / elapsed, 10_000), 1_000_000))
}
