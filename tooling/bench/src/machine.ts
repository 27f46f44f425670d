import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import process from 'node:process'

/** One line that says where numbers come from. */
export const describeMachine = (): string => {
  const [cpu] = cpus()
  const parts = [
    cpu?.model.trim() || 'unknown processor',
    `${availableParallelism()} cores`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `${process.platform} ${process.arch}`,
    `Node ${process.version}`,
  ]
  return parts.join(', ')
}

/** Processes that wanted to run in the last minute. Windows does not know, and says 0. */
export const loadAverage = (): number => loadavg()[0] ?? 0

/**
 * Whether the machine had other things to do, in a sentence. `load` is the load average before anything was measured;
 * `wallPerCpu` how many times as long as its work everything on one thread took.
 */
export const describeBusyness = (load: number, wallPerCpu: number): string => {
  const found =
    `load average ${load.toFixed(1)} on ${availableParallelism()} cores before the start, wall time ` +
    `${wallPerCpu.toFixed(2)} × processor time`
  const isBusy = load > availableParallelism() / 2 || wallPerCpu > 1.15
  return isBusy
    ? `**The machine was busy** (${found}): rows of this run compare with each other, not with other runs.`
    : `The machine was idle (${found}).`
}
