const start = '<!-- word-error-rates: written by tooling/evaluate -->'
const end = '<!-- /word-error-rates -->'

/** Puts measured rates, in percent by voice, into the marked table of a README. Throws where the table lacks one. */
export const writeRates = (readme: string, rates: ReadonlyMap<string, number>): string => {
  const from = readme.indexOf(start)
  const to = readme.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the README has no table between '${start}' and '${end}'`)
  let table = readme.slice(from, to)
  for (const [voice, rate] of rates) {
    // Voice, what it is, our rate: the third cell keeps its width, so that the columns stay in line.
    const row = new RegExp(`^(\\| \`${voice}\` \\|[^|]*\\| )([^|]*)( \\|)`, 'm')
    if (!row.test(table)) throw new Error(`the table has no row for the voice '${voice}'`)
    const cell = `${rate.toFixed(1)} %`
    table = table.replace(row, (_row, before, old, after) => before + cell.padStart(old.length) + after)
  }
  return readme.slice(0, from) + table + readme.slice(to)
}
