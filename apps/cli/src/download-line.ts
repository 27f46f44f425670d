import type { LoadProgress } from '@pocket/tts'
import { formatBytes } from './format-bytes.ts'

type Download = Omit<LoadProgress, 'stage'>

/** Tells a download in a line: of what, how much of how much, how fast, how long yet, and from where it went on. */
export const createDownloadLine = (): ((download: Download) => string) => {
  let current: string | undefined
  let beganAt = 0
  return (download) => {
    const { file, loadedBytes, totalBytes, bytesPerSecond = 0 } = download
    if (file !== current || loadedBytes < beganAt) {
      current = file
      beganAt = loadedBytes
    }
    const parts = [formatAmount(download)]
    if (bytesPerSecond > 0) parts.push(`${formatBytes(Math.round(bytesPerSecond))}/s`)
    if (bytesPerSecond > 0 && totalBytes) {
      parts.push(`${formatDuration((totalBytes - loadedBytes) / bytesPerSecond)} left`)
    }
    if (beganAt > 0) parts.push(`resumed at ${formatBytes(beganAt)}`)
    return `Downloading ${nameOf(file)}: ${parts.join(', ')}`
  }
}

const formatAmount = ({ loadedBytes, totalBytes }: Download): string => {
  if (!totalBytes) return formatBytes(loadedBytes)
  const percent = Math.floor((100 * loadedBytes) / totalBytes)
  return `${formatBytes(loadedBytes)} of ${formatBytes(totalBytes)} (${percent} %)`
}

/** `hf://owner/repo/folder/name@revision` is too long for a line. */
const nameOf = (file: string | undefined): string =>
  file === undefined ? 'the model' : (/([^/]+)@[^@]*$/.exec(file)?.[1] ?? file)

const formatDuration = (seconds: number): string => {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
