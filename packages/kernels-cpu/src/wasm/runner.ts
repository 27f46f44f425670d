/** What goes through the programs of a runtime: one thread, or several. */
export interface Runner {
  /** Threads that share the work, the caller's included. */
  readonly threads: number
  run(program: number): void
  /** Begins a program that may go on beside those of `run`, until `finish`. One at a time. */
  start(program: number): void
  finish(): void
  dispose(): void
}

/** The functions that every build exports. Addresses are bytes from the start of the memory. */
export interface KernelExports {
  packPanel(rows: number, count: number, inputs: number, panel: number, conversion: number): void
  packIntegers(integerPanel: number): void
  /** 1 where panels may be for rows of digits. */
  multipliesDigits(): number
  /** Takes as long as so many products of either kind. */
  repeatProducts(asDigits: number, turns: number): number
}

/** Those of assembly/index.ts. */
export interface SingleExports extends KernelExports {
  run(program: number): void
}

export const singleRunner = (kernels: SingleExports): Runner => ({
  threads: 1,
  run: (program) => kernels.run(program),
  start: (program) => kernels.run(program),
  finish() {},
  dispose() {},
})
