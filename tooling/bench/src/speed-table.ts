import { floorName } from './contenders.ts'
import { fullWork } from './full-work.ts'
import { formatNumber, markdownTable } from './markdown.ts'
import type { Measurement } from './measure.ts'
import { type Clock, frameTime, stageTime } from './times.ts'

/** How fast a contender reads and computes, counted by what the model of full size has to do. */
interface Speeds {
  /** Of the backbone's step, in GB/s. */
  readonly read: number
  /** In GF/s. */
  readonly prompt: number
  readonly decode: number
  /** Milliseconds. */
  readonly frame: number
}

const speedsOf = (measurement: Measurement, clock: Clock): Speeds | undefined => {
  const { kept, codec = 'f32' } = measurement.contender
  if (!kept) return undefined
  const { bytes, operations } = fullWork(kept, codec)
  return {
    read: bytes.step / stageTime(measurement, 'step', clock) / 1e6,
    prompt: operations.prompt / stageTime(measurement, 'prompt', clock) / 1e6,
    decode: operations.decode / stageTime(measurement, 'decode', clock) / 1e6,
    frame: frameTime(measurement, clock),
  }
}

const columns = [
  { title: 'model', isText: true },
  { title: 'engine', isText: true },
  { title: 'backbone, GB/s' },
  { title: 'of the stream' },
  { title: 'prompt, GF/s' },
  { title: 'of the peak' },
  { title: 'codec, GF/s' },
  { title: 'of the peak' },
  { title: 'frame, ms' },
  { title: '× floor' },
]

/** A Markdown table of the contenders whose work is known, or undefined where there is none. */
export const formatSpeedTable = (measurements: readonly Measurement[], clock: Clock): string | undefined => {
  const rows = measurements.flatMap((measurement) => {
    const { model, engine, floor } = measurement.contender
    const speeds = speedsOf(measurement, clock)
    if (!speeds) return []
    const limit = measurements.find(
      ({ contender }) => floor && contender.model === model && contender.engine === floorName(floor),
    )
    const limits = limit && speedsOf(limit, clock)
    const speed = (name: 'read' | 'prompt' | 'decode'): string[] => [
      formatNumber(speeds[name]),
      limits ? `${formatNumber((100 * speeds[name]) / limits[name])} %` : '–',
    ]
    const ratio = limits && speeds.frame / limits.frame
    return [
      [model, engine, ...speed('read'), ...speed('prompt'), ...speed('decode')].concat(
        [speeds.frame, ratio].map(formatNumber),
      ),
    ]
  })
  return rows.length > 0 ? markdownTable(columns, rows) : undefined
}
