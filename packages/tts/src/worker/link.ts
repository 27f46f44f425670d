import type { Command, Report } from './protocol.ts'

/** The caller's end of the line to a worker. */
export interface WorkerLink {
  /** `transfer` moves these buffers; everything else in the command is copied. */
  post(command: Command, transfer?: ArrayBuffer[]): void
  /** Whether somebody waits for the worker. In Node only then does it keep the process alive. */
  setAwaited(isAwaited: boolean): void
  /** Ends the worker at once, whatever it does. */
  terminate(): void
}

export interface WorkerListener {
  onReport(report: Report): void
  /** The worker has ended without being told to, or could not start. */
  onLost(cause: unknown): void
}

export type StartWorker = (listener: WorkerListener) => WorkerLink

/** The worker's end. */
export interface CallerLink {
  post(report: Report, transfer?: ArrayBuffer[]): void
}

/** What Node and browsers do differently: `#worker` in the package's imports map names one of the two. */
export interface WorkerPlatform {
  readonly startWorker: StartWorker
  /** A path as it must be written for the worker, which may take relative ones from elsewhere than its caller. */
  readonly pathForWorker: (path: string) => string
}
