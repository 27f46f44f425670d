/** Three figures where that is sensible; a dash for what was not measured. */
export const formatNumber = (value: number | undefined): string => {
  if (value === undefined || Number.isNaN(value)) return '–'
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

/** Numbers stand on the right, text on the left. */
export const markdownTable = (
  columns: readonly { readonly title: string; readonly isText?: boolean }[],
  rows: readonly (readonly string[])[],
): string =>
  [columns.map(({ title }) => title), columns.map(({ isText }) => (isText ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
