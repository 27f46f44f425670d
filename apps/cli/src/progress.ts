import type { GenerateProgress, LoadProgress } from '@pocket/tts'
import { createDownloadLine } from './download-line.ts'
import { formatBytes } from './format-bytes.ts'
import type { Output } from './io.ts'

/** One line on a terminal that says how far things are. */
export interface Progress {
  loading(progress: LoadProgress): void
  speaking(progress: GenerateProgress): void
  /** Anything else, in words. */
  working(line: string): void
  /** Takes the line away. */
  clear(): void
}

/** Within a stage the line is redrawn at most this often, in milliseconds: a slow terminal must not slow speech down. */
const interval = 100

/** Shown where `output` is a terminal; elsewhere, and where nobody wants it, nothing is printed. */
export const createProgress = (output: Output, isWanted: boolean): Progress => {
  if (!isWanted || !output.isTTY) return { loading() {}, speaking() {}, working() {}, clear() {} }
  const formatDownload = createDownloadLine()
  let shown = ''
  let since = 0
  const show = (stage: string, line: string): void => {
    const now = performance.now()
    if (stage === shown && now - since < interval) return
    shown = stage
    since = now
    // A line that wraps could not be taken away again.
    output.write(`\r\x1b[K${line.slice(0, (output.columns ?? Number.POSITIVE_INFINITY) - 1)}`)
  }
  return {
    loading: (progress) =>
      progress.stage === 'download'
        ? show(`download ${progress.file}`, formatDownload(progress))
        : show(progress.stage, formatLoading(progress)),
    speaking: (progress) => show('speaking', formatSpeaking(progress)),
    working: (line) => show('working', line),
    clear: () => {
      if (shown !== '') output.write('\r\x1b[K')
      shown = ''
    },
  }
}

const formatLoading = ({ stage, loadedBytes, totalBytes }: LoadProgress): string => {
  const share = formatShare(totalBytes ? loadedBytes / totalBytes : undefined)
  return `Loading the ${stage.replace('-', ' ')}: ${formatBytes(loadedBytes)}${share}`
}

const formatSpeaking = ({
  frames,
  seconds,
  realTimeFactor,
  chunkIndex,
  chunkCount,
}: GenerateProgress): string => {
  const part = chunkCount !== undefined && chunkCount > 1 ? `part ${chunkIndex + 1} of ${chunkCount}, ` : ''
  return `Speaking: ${part}${frames} frames, ${formatSeconds(seconds)}, ${formatSpeed(realTimeFactor)}`
}

export const formatSeconds = (seconds: number): string => `${seconds.toFixed(2)} s`

/** A part of 1, behind something else; nothing where it is not known. */
export const formatShare = (share: number | undefined): string =>
  share === undefined ? '' : ` (${Math.floor(100 * share)} %)`

/** Seconds of speech per second of work. */
export const formatSpeed = (factor: number): string => `${factor.toFixed(1)} × real time`
