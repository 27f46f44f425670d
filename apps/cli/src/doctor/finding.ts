/** What a check has found. */
export interface Finding {
  readonly state: 'fine' | 'broken'
  /** For people. */
  readonly lines: readonly string[]
  /** The same for programs. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** Looks at one thing. What it throws is what is broken. */
export type Check = (signal: AbortSignal) => Promise<Finding>
