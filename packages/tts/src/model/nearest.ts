/** No known name is longer; what comes from a file may be. */
const longestCompared = 64

/** The candidate with the fewest edits from `word`, the first of equals; undefined only without candidates. */
export const nearest = <T>(
  word: string,
  candidates: Iterable<T>,
  nameOf: (candidate: T) => string,
): T | undefined => {
  const compared = word.slice(0, longestCompared)
  let best: T | undefined
  let fewest = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const edits = editDistance(compared, nameOf(candidate))
    if (edits < fewest) {
      fewest = edits
      best = candidate
    }
  }
  return best
}

/** Levenshtein distance in UTF-16 units. */
export const editDistance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
