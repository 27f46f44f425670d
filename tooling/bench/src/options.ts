import { parseArgs } from 'node:util'
import { availableLevels, type Variants } from './contenders.ts'
import type { Effort } from './measure.ts'
import type { Clock } from './times.ts'

export const usage = `pnpm bench [options]: how fast everything is on this machine, as a Markdown table

  --quick              a tenth of the effort, for a first look
  --models <list>      mini, full; default both
  --simd <list>        simd, relaxed, scalar; default what this machine has of the first two
  --scalar             also the scalar level: slow
  --threads <list>     default 1
  --precision <list>   stored, bf16, f32, int8; default stored: as the file has them
  --codec <list>       stored, int16: how the codec computes; default stored
  --rivals             also other runtimes, at full size, where they are installed
  --clock <clock>      wall, or cpu: processor time, for a machine that has other things to do; default wall
  --help

Lists are separated by commas; every combination becomes a row.`

export interface Options {
  readonly models: readonly string[]
  readonly variants: Variants
  readonly rivals: boolean
  readonly effort: Effort
  readonly clock: Clock
}

const thorough: Effort = { rounds: 5, budget: { mostRuns: 20, milliseconds: 400 }, utterances: 3, frames: 25 }
const quick: Effort = { rounds: 2, budget: { mostRuns: 8, milliseconds: 150 }, utterances: 1, frames: 12 }

/** Undefined where help is asked for. Throws an Error that says what is wrong. */
export const parseOptions = (args: readonly string[]): Options | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      models: { type: 'string', default: 'mini,full' },
      simd: { type: 'string', default: availableLevels().join() },
      scalar: { type: 'boolean', default: false },
      threads: { type: 'string', default: '1' },
      precision: { type: 'string', default: 'stored' },
      codec: { type: 'string', default: 'stored' },
      rivals: { type: 'boolean', default: false },
      clock: { type: 'string', default: 'wall' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const levels = listOf('simd', values.simd, ['simd', 'relaxed', 'scalar'] as const)
  const [clock = 'wall'] = listOf('clock', values.clock, ['wall', 'cpu'] as const)
  return {
    models: listOf('models', values.models, ['mini', 'full'] as const),
    variants: {
      simd: values.scalar ? [...new Set([...levels, 'scalar' as const])] : levels,
      threads: values.threads.split(',').map(Number),
      precision: listOf('precision', values.precision, ['stored', 'bf16', 'f32', 'int8'] as const),
      codec: listOf('codec', values.codec, ['stored', 'int16'] as const),
    },
    rivals: values.rivals,
    effort: values.quick ? quick : thorough,
    clock,
  }
}

const listOf = <Word extends string>(option: string, list: string, known: readonly Word[]): Word[] =>
  list
    .split(',')
    .filter(Boolean)
    .map((word) => {
      const found = known.find((other) => other === word)
      if (found) return found
      throw new Error(`--${option} ${word}: expected some of ${known.join(', ')}`)
    })
