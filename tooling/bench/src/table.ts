import { formatNumber, markdownTable } from './markdown.ts'
import type { Measurement } from './measure.ts'
import { median } from './statistics.ts'
import type { Stage } from './subject.ts'
import { type Clock, frameTime, stageTime } from './times.ts'

interface Column {
  readonly title: string
  readonly isText?: boolean
  cell(measurement: Measurement, clock: Clock): string
}

const stageColumn = (title: string, stage: Stage): Column => ({
  title,
  cell: (measurement, clock) => formatNumber(stageTime(measurement, stage, clock)),
})

const megabytes = (bytes: number | undefined): string =>
  bytes === undefined ? '–' : (bytes / 1e6).toFixed(0)

const columns: readonly Column[] = [
  { title: 'model', isText: true, cell: ({ contender }) => contender.model },
  { title: 'engine', isText: true, cell: ({ contender }) => contender.engine },
  { title: 'load', cell: ({ load }, clock) => formatNumber(load[clock]) },
  stageColumn('prompt of 50', 'prompt'),
  stageColumn('backbone', 'step'),
  stageColumn('flow head', 'flow'),
  stageColumn('codec', 'decode'),
  {
    title: 'frame',
    cell: (measurement, clock) => formatNumber(frameTime(measurement, clock)),
  },
  stageColumn('encode', 'encode'),
  {
    title: 'first audio',
    cell: ({ spoken }) => formatNumber(median(spoken.map(({ firstAudio }) => firstAudio))),
  },
  {
    title: '× real time',
    cell: ({ spoken }, clock) =>
      formatNumber(median(spoken.map(({ whole, seconds }) => (1000 * seconds) / whole[clock]))),
  },
  { title: 'RSS, MB', cell: ({ memory }) => megabytes(memory?.resident) },
  { title: 'peak, MB', cell: ({ memory }) => megabytes(memory?.peak) },
  { title: 'WASM, MB', cell: ({ memory }) => megabytes(memory?.wasm) },
]

/** A Markdown table, one row for each contender. */
export const formatTable = (measurements: readonly Measurement[], clock: Clock): string =>
  markdownTable(
    columns,
    measurements.map((measurement) => columns.map(({ cell }) => cell(measurement, clock))),
  )
