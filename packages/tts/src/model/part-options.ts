import { openHub } from '#hub'
import type { Hub } from '../hub/hub.ts'
import type { DownloadProgress } from '../hub/progress.ts'
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
  const onDownload = ({ file, loadedBytes, totalBytes, bytesPerSecond }: DownloadProgress): void =>
    onProgress?.({ stage: 'download', file, loadedBytes, totalBytes, bytesPerSecond })
  return { hub: openOnce, signal, onDownload }
}
