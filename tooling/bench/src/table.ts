import type { Measurement } from './measure.ts'
import { median, type Sample } from './statistics.ts'
import type { Stage } from './subject.ts'

/** Which time the table shows: of the clock on the wall, or of processors, which other programs hardly disturb. */
export type Clock = keyof Sample

interface Column {
  readonly title: string
  readonly isText?: boolean
  cell(measurement: Measurement, clock: Clock): string
}

/** Three figures where that is sensible; a dash for what was not measured. */
const formatNumber = (value: number | undefined): string => {
  if (value === undefined || Number.isNaN(value)) return '–'
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

const stageTime = ({ stages }: Measurement, stage: Stage, clock: Clock): number =>
  median(stages[stage].map((sample) => sample[clock]))

const stageColumn = (title: string, stage: Stage): Column => ({
  title,
  cell: (measurement, clock) => formatNumber(stageTime(measurement, stage, clock)),
})

const frameStages = ['step', 'flow', 'decode'] as const

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
    cell: (measurement, clock) =>
      formatNumber(frameStages.reduce((sum, stage) => sum + stageTime(measurement, stage, clock), 0)),
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
  { title: 'RSS, MB', cell: ({ memory }) => megabytes(memory.resident) },
  { title: 'peak, MB', cell: ({ memory }) => megabytes(memory.peak) },
  { title: 'WASM, MB', cell: ({ memory }) => megabytes(memory.wasm) },
]

/** A Markdown table, one row for each contender. */
export const formatTable = (measurements: readonly Measurement[], clock: Clock): string => {
  const rows = [
    columns.map(({ title }) => title),
    columns.map(({ isText }) => (isText ? '---' : '---:')),
    ...measurements.map((measurement) => columns.map(({ cell }) => cell(measurement, clock))),
  ]
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
