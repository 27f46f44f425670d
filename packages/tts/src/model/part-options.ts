import { openHub } from '#hub'
import type { Hub } from '../hub/hub.ts'
import type { ProgressListener } from '../hub/progress.ts'
import type { LoadOptions } from '../load-options.ts'
import type { PartOptions } from './part.ts'

/** What loading is told, as it concerns files. */
export const partOptions = ({ hub, signal, onProgress }: LoadOptions): PartOptions => {
  // Opened when a file of the hub is wanted: nobody else's environment needs to make sense.
  let opened: Hub | undefined
  const openOnce = (): Hub => {
    opened ??= openHub(hub)
    return opened
  }
  return { hub: openOnce, signal, onDownload: reportDownload(onProgress) }
}

/** Downloads as a stage of loading. */
export const reportDownload =
  (onProgress: LoadOptions['onProgress']): ProgressListener =>
  ({ file, loadedBytes, totalBytes, bytesPerSecond }) =>
    onProgress?.({ stage: 'download', file, loadedBytes, totalBytes, bytesPerSecond })
