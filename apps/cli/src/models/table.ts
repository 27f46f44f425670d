/** Rows as lines, each column as wide as its widest cell. */
export const table = (rows: readonly (readonly string[])[]): string => {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  const format = (row: readonly string[]): string =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((row) => `${format(row).trimEnd()}\n`).join('')
}
