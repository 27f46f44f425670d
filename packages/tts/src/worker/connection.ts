import { messageOf, PocketTtsError } from '../errors.ts'
import type { StartWorker, WorkerLink } from './link.ts'
import type { Command, Report, Request, ResultOf } from './protocol.ts'
import { type CallHooks, RemoteCall } from './remote-call.ts'
import { fillRow } from './shared-row.ts'

type CallInFlight = Pick<RemoteCall<unknown>, 'handle' | 'fail'>

/** A worker and the calls under way in it. When it ends, for whatever reason, every one of them rejects. */
export class Connection {
  readonly #link: WorkerLink
  readonly #calls = new Map<number, CallInFlight>()
  #lastId = 0
  #awaited = 0
  /** Why there is no worker any more. */
  #ended: PocketTtsError | undefined

  /** Throws PocketTtsError `worker-failed` where workers cannot be had. */
  constructor(start: StartWorker) {
    try {
      this.#link = start({
        onReport: (report) => this.#receive(report),
        onLost: (cause) => this.end(lostError(cause)),
      })
    } catch (cause) {
      throw lostError(cause)
    }
    this.#link.setAwaited(false)
  }

  /**
   * Begins a call. Throws PocketTtsError `disposed`, `worker-failed`, `invalid-option` for what no message can hold, or
   * the reason of a signal that is already aborted.
   */
  call<R extends Request>(
    request: R,
    hooks: CallHooks = {},
    transfer?: ArrayBuffer[],
  ): RemoteCall<ResultOf<R>> {
    this.check()
    hooks.signal?.throwIfAborted()
    const id = this.nextId()
    this.send({ id, ...request }, transfer)
    const call = new RemoteCall<ResultOf<R>>(id, hooks, {
      send: (command) => this.send(command),
      forget: () => this.#calls.delete(id),
    })
    this.#calls.set(id, call)
    return call
  }

  nextId(): number {
    return ++this.#lastId
  }

  /** Does nothing when there is no worker. Throws PocketTtsError `invalid-option` for what no message can hold. */
  send(command: Command, transfer?: ArrayBuffer[]): void {
    if (this.#ended) return
    try {
      this.#link.post(command, transfer)
    } catch (cause) {
      const reason = messageOf(cause)
      throw new PocketTtsError('invalid-option', `an argument cannot go to the worker: ${reason}`, { cause })
    }
  }

  /** Keeps a Node process alive until the promise settles, as work on its own thread would. */
  async awaited<Value>(promise: Promise<Value>): Promise<Value> {
    if (++this.#awaited === 1) this.#link.setAwaited(true)
    try {
      return await promise
    } finally {
      if (--this.#awaited === 0) this.#link.setAwaited(false)
    }
  }

  /** Throws why there is no worker any more. */
  check(): void {
    if (this.#ended) throw this.#ended
  }

  /** Ends the worker; what is under way, and every later call, gets this error. */
  end(error: PocketTtsError): void {
    if (this.#ended) return
    this.#ended = error
    this.#link.terminate()
    for (const call of [...this.#calls.values()]) call.fail(error)
  }

  #receive(report: Report): void {
    const call = this.#calls.get(report.id)
    if (call) call.handle(report)
    // Nobody draws for a call that is over, and the worker sleeps until somebody answers.
    else if (report.report === 'noise-wanted') fillRow(report.row, undefined)
    // Of a voice that came too late, the worker has kept the cache.
    else if (report.report === 'done') this.send({ id: report.id, command: 'drop-cache' })
  }
}

const lostError = (cause: unknown): PocketTtsError => {
  const reason = messageOf(cause)
  return new PocketTtsError('worker-failed', `the worker has ended: ${reason}; load the model again`, {
    cause,
  })
}
