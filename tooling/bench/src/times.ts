import type { Measurement } from './measure.ts'
import { median, type Sample } from './statistics.ts'
import type { Stage } from './subject.ts'

/** Which time tables show: of the clock on the wall, or of processors, which other programs hardly disturb. */
export type Clock = keyof Sample

/** Milliseconds, the median; NaN for a stage that was not measured. */
export const stageTime = ({ stages }: Measurement, stage: Stage, clock: Clock): number =>
  median(stages[stage].map((sample) => sample[clock]))

const frameStages = ['step', 'flow', 'decode'] as const

/** Of the stages that make 80 ms of sound, one after the other. */
export const frameTime = (measurement: Measurement, clock: Clock): number =>
  frameStages.reduce((sum, stage) => sum + stageTime(measurement, stage, clock), 0)
