/** The answer to `keep-all`: why some file could not be kept, if so. */
export interface OfflineReport {
  readonly error: string | undefined
}
