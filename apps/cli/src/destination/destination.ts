/** Where speech goes while it is made. */
export interface Destination {
  /** How messages call it. */
  readonly label: string
  /** Samples a second; called once, before any samples. */
  begin(sampleRate: number): Promise<void>
  write(samples: Float32Array): Promise<void>
  /** All samples are written. */
  finish(): Promise<void>
  /** Something went wrong: leaves no partial file. Does nothing after `finish`. */
  discard(): Promise<void>
}
