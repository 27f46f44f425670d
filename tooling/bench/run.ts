// How fast everything is on this machine, as one Markdown table: pnpm bench [--quick], see --help.
import process from 'node:process'
import { floorContenders, pocketContenders, rivalContenders } from './src/contenders.ts'
import { writeFullModel } from './src/full-model.ts'
import { describeBusyness, describeMachine, loadAverage } from './src/machine.ts'
import { measure, type Outcome } from './src/measure.ts'
import { type Options, parseOptions, usage } from './src/options.ts'
import { formatSpeedTable } from './src/speed-table.ts'
import { relativeSpread, wallPerCpu } from './src/statistics.ts'
import { stages } from './src/subject.ts'
import { formatTable } from './src/table.ts'

const report = (model: string) => (what: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${model}: ${what} …`)
}

/** One model after the other, so that two of them are never in memory at once. */
const measureModels = async ({ models, variants, rivals, effort }: Options): Promise<Outcome> => {
  const outcomes: Outcome[] = []
  if (models.includes('mini')) {
    const contenders = pocketContenders('`@pocket/mini`', 'mini', variants)
    outcomes.push(await measure(contenders, effort, report('mini')))
  }
  if (models.includes('full')) {
    report('full')('generating weights')
    const model = 'full size'
    const contenders = [
      ...pocketContenders(model, await writeFullModel(), variants),
      ...(rivals ? rivalContenders(model, variants) : []),
    ]
    contenders.push(...floorContenders(model, contenders))
    outcomes.push(await measure(contenders, effort, report('full')))
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  return {
    measurements: outcomes.flatMap(({ measurements }) => measurements),
    missing: outcomes.flatMap(({ missing }) => missing),
  }
}

const print = ({ measurements, missing }: Outcome, { clock }: Options, load: number): void => {
  const series = measurements
    .flatMap((measurement) => stages.map((stage) => measurement.stages[stage]))
    .filter(({ length }) => length > 0)
  if (series.length > 0) {
    const spreads = series.map((samples) => relativeSpread(samples.map((sample) => sample[clock])))
    console.log(`${describeMachine()}. ${describeBusyness(load, wallPerCpu(series.flat()))}\n`)
    console.log(formatTable(measurements, clock))
    const speeds = formatSpeedTable(measurements, clock)
    if (speeds) console.log(`\n${speeds}`)
    console.log(
      `\nMilliseconds of ${clock === 'wall' ? 'wall' : 'processor'} time, medians; the middle half of a stage's ` +
        `samples spans at most ${Math.round(100 * Math.max(...spreads))} % of its median. First audio is of the wall clock.`,
    )
  }
  for (const { contender, reason } of missing) {
    console.log(`\nNot measured: ${contender.model}, ${contender.engine}: ${reason}`)
  }
}

const main = async (args: readonly string[]): Promise<void> => {
  const options = parseOptions(args)
  if (!options) return console.log(usage)
  const load = loadAverage()
  print(await measureModels(options), options, load)
}

// Leaves as after the last line, so that the temporary file goes.
process.once('SIGINT', () => process.exit(130))
try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(`pnpm bench: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
