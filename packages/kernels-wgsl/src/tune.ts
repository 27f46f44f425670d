import { KernelError } from '@pocket/nn'
import type { Tuning } from './capabilities.ts'
import type { Gpu } from './gpu.ts'

/** A plan or stream in use, to be timed. */
export interface TuningTrial {
  /** Resolves when its kernels are compiled. */
  ready(): Promise<void>
  /** The next runs, some milliseconds of them and as many each time; resolves with all that they gave. */
  run(): Promise<readonly Float32Array[]>
  dispose(): void
}

export interface TuneOptions {
  /**
   * `kept` (default): only cuts that give the bits of the present one, so that what is computed does not depend on what
   * was measured. `changed`: also others, where they are clearly faster.
   */
  readonly bits?: 'kept' | 'changed'
  /** Milliseconds for the cuts that are tried. Another is tried where the longest so far fits in. Default 3000. */
  readonly budget?: number
}

/** A cut that was tried. */
export interface TuningTime {
  readonly tuning: Tuning
  /** Of `TuningTrial.run`, the median; undefined where the cut was passed over for its bits or could not be compiled. */
  readonly milliseconds: number | undefined
  /** Of the cut that was the best until then, the runs taking turns. */
  readonly bestMilliseconds: number | undefined
  readonly sameBits: boolean | undefined
}

export interface TuningReport {
  /** The cut from now on. */
  readonly tuning: Tuning
  readonly tried: readonly TuningTime[]
}

const usualBudget = 3000

/** Runs of each of two cuts that are compared. */
const rounds = 5

/** What a cut must gain: less is within what medians of five differ by, and bits are worth more than that. */
const leastGain = { sameBits: 0.03, otherBits: 0.15 }

/** The cuts next to the best so far, one property changed at a time. */
const changes: readonly ((best: Tuning) => Partial<Tuning>)[] = [
  ({ unroll }) => ({ unroll: Math.min(8, 2 * unroll) }),
  () => ({ workgroup: 256 }),
  ({ subgroups }) => ({ subgroups: !subgroups }),
  () => ({ unroll: 1 }),
]

const changesOfBits: typeof changes = [
  ({ threads }) => ({ threads: Math.max(64, threads >> 2) }),
  ({ threads }) => ({ threads: Math.max(64, threads >> 2) }),
]

interface Opened {
  readonly tuning: Tuning
  readonly trial: TuningTrial
  readonly outputs: readonly Float32Array[]
}

export const tune = async (
  gpu: Gpu,
  open: () => TuningTrial,
  { bits = 'kept', budget = usualBudget }: TuneOptions = {},
): Promise<TuningReport> => {
  const beginning = gpu.capabilities.tuning
  const opening = performance.now()
  const first = await openWith(gpu, beginning, open)
  const tried: TuningTime[] = []
  let best = first
  try {
    // What comparing will take: to open another, and to run both.
    let longest = performance.now() - opening + 2 * rounds * (await timeOf(first.trial))
    const begin = performance.now()
    for (const change of bits === 'kept' ? changes : [...changes, ...changesOfBits]) {
      const tuning = cutWith(gpu, best.tuning, change)
      if (isAmong(tuning, [beginning, ...tried.map((time) => time.tuning)])) continue
      const started = performance.now()
      if (started - begin + longest > budget) break
      const better = await gpu.pipelines.keepIf(async () => {
        const candidate = await openOrPass(gpu, tuning, open)
        const sameBits = candidate && isSame(candidate.outputs, first.outputs)
        return takeIfBetter(
          { best, tuning, candidate, sameBits, compares: sameBits || bits === 'changed' },
          tried,
        )
      })
      if (better) {
        best.trial.dispose()
        best = better
      }
      longest = Math.max(longest, performance.now() - started)
    }
  } finally {
    best.trial.dispose()
    gpu.retune(best.tuning)
  }
  return { tuning: best.tuning, tried }
}

const cutWith = (gpu: Gpu, best: Tuning, change: (typeof changes)[number]): Tuning => {
  gpu.retune(best)
  gpu.retune(change(best))
  // Without what the device has not.
  return gpu.capabilities.tuning
}

interface Comparison {
  readonly best: Opened
  readonly tuning: Tuning
  readonly candidate: Opened | undefined
  readonly sameBits: boolean | undefined
  /** Whether the candidate may be chosen. */
  readonly compares: boolean
}

/** The candidate, where it is better; else it is closed again. */
const takeIfBetter = async (
  { best, tuning, candidate, sameBits, compares }: Comparison,
  tried: TuningTime[],
): Promise<Opened | undefined> => {
  let isBetter = false
  try {
    const times = candidate && compares ? await compare(best, candidate) : undefined
    tried.push({ tuning, sameBits, milliseconds: times?.candidate, bestMilliseconds: times?.best })
    if (times) {
      const gain = 1 - times.candidate / times.best
      isBetter = gain > (sameBits ? leastGain.sameBits : leastGain.otherBits)
    }
    return isBetter ? candidate : undefined
  } finally {
    if (!isBetter) candidate?.trial.dispose()
  }
}

const openWith = async (
  gpu: Gpu,
  tuning: Tuning,
  open: () => TuningTrial,
  onCompiled = (): void => {},
): Promise<Opened> => {
  gpu.retune(tuning)
  const trial = open()
  try {
    await trial.ready()
    onCompiled()
    return { tuning, trial, outputs: await trial.run() }
  } catch (error) {
    trial.dispose()
    throw error
  }
}

/** Undefined where a driver cannot compile kernels that are cut so, or a device has no memory for a second trial. */
const openOrPass = async (gpu: Gpu, tuning: Tuning, open: () => TuningTrial): Promise<Opened | undefined> => {
  let isCompiled = false
  try {
    return await openWith(gpu, tuning, open, () => {
      isCompiled = true
    })
  } catch (error) {
    const isOfKernels = error instanceof KernelError
    const mayPass = isOfKernels ? error.code === 'out-of-memory' : !isCompiled
    if (mayPass) return undefined
    throw error
  }
}

const isAmong = (tuning: Tuning, known: readonly Tuning[]): boolean =>
  known.some((one) => (Object.keys(one) as (keyof Tuning)[]).every((name) => one[name] === tuning[name]))

/** Medians, the two taking turns: whatever else the machine does meets both. */
const compare = async (best: Opened, candidate: Opened): Promise<{ best: number; candidate: number }> => {
  const times = { best: [] as number[], candidate: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    times.best.push(await timeOf(best.trial))
    times.candidate.push(await timeOf(candidate.trial))
  }
  return { best: median(times.best), candidate: median(times.candidate) }
}

const timeOf = async (trial: TuningTrial): Promise<number> => {
  const begin = performance.now()
  await trial.run()
  return performance.now() - begin
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const isSame = (one: readonly Float32Array[], other: readonly Float32Array[]): boolean =>
  one.length === other.length && one.every((values, index) => hasSameBits(values, other[index]))

const hasSameBits = (one: Float32Array, other: Float32Array = new Float32Array()): boolean => {
  // Not by value: what is no number is equal to nothing.
  const words = wordsOf(other)
  return one.length === other.length && wordsOf(one).every((word, index) => word === words[index])
}

const wordsOf = ({ buffer, byteOffset, length }: Float32Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, length)
