/** What a thread of an executor is given: the kernels, the memory, the crew in it, and which of its threads it is. */
export interface ThreadJob {
  readonly module: WebAssembly.Module
  readonly memory: WebAssembly.Memory
  readonly crew: number
  readonly thread: number
}

export interface ThreadListener {
  /** It has begun to work. */
  onReady(): void
  /** It could not begin, or has ended by itself. */
  onLost(cause: unknown): void
}

export interface ThreadLink {
  /** Ends the thread at once, whatever it does. */
  terminate(): void
}

/** What Node and browsers do differently: `#threads` in the package's imports map names one of the two. */
export interface ThreadPlatform {
  /** Whether threads may share memory here, and if not, why not. */
  readonly obstacle: () => string | undefined
  /** A thread that calls `serve` of the kernels. In Node it does not keep the process alive once it is ready. */
  readonly startThread: (job: ThreadJob, listener: ThreadListener) => ThreadLink
}
