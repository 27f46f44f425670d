// Word error rates of what speak.ts wrote, by Debian's pocketsphinx:
//   node tooling/evaluate/rate.ts [-v] [--write] <list.tsv>…
// -v prints what was heard; --write puts the rates of lists named after voices into the README of @pocket/mini.
import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseList } from './src/listening-list.ts'
import { writeRates } from './src/rates-table.ts'
import { recognise } from './src/recogniser.ts'
import { errorRate, wordErrors } from './src/word-errors.ts'

const { values: options, positionals: lists } = parseArgs({
  allowPositionals: true,
  options: { verbose: { type: 'boolean', short: 'v' }, write: { type: 'boolean' } },
})
if (lists.length === 0) throw new Error('name the lists to rate, e.g. tooling/evaluate/build/evaluate/*.tsv')

const rate = async (list: string): Promise<number> => {
  const utterances = parseList(await readFile(list, 'utf8'))
  const heard = await recognise(utterances.map(({ file }) => join(dirname(list), file)))
  const results = utterances.map(({ text }, index) => wordErrors(text, heard[index]!))
  for (const [index, { text }] of utterances.entries()) {
    if (options.verbose) console.log(`${results[index]!.errors}  ${text}  →  ${heard[index]}`)
  }
  return errorRate(results)
}

const rates = new Map<string, number>()
for (const list of lists) {
  const name = basename(list, '.tsv')
  rates.set(name, await rate(list))
  console.log(`${name}: ${rates.get(name)!.toFixed(1)} % word errors`)
}
if (options.write) {
  const readme = new URL('../../packages/mini/README.md', import.meta.url)
  await writeFile(readme, writeRates(await readFile(readme, 'utf8'), rates))
}
