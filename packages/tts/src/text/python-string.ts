/**
 * The string operations of the Python reference, whose idea of white space differs from JavaScript's `trim`:
 * U+001C–U+001F and U+0085 are white space, U+FEFF is not. Checked over all code points of Unicode 14.
 */

/** `str.isspace` of one UTF-16 unit; all white space lies in the basic plane. */
export const isSpace = (unit: number): boolean =>
  (unit >= 0x09 && unit <= 0x0d) ||
  (unit >= 0x1c && unit <= 0x20) ||
  unit === 0x85 ||
  unit === 0xa0 ||
  unit === 0x1680 ||
  (unit >= 0x2000 && unit <= 0x200a) ||
  unit === 0x2028 ||
  unit === 0x2029 ||
  unit === 0x202f ||
  unit === 0x205f ||
  unit === 0x3000

/** `str.strip()` */
export const strip = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** `len(text.split())` */
export const countWords = (text: string): number => {
  let words = 0
  let insideWord = false
  for (let i = 0; i < text.length; i++) {
    const space = isSpace(text.charCodeAt(i))
    if (!space && !insideWord) words++
    insideWord = !space
  }
  return words
}

/** `text[0].upper() + text[1:]` unless `text[0].isupper()`; a titlecase letter (`ǅ`) is not upper case. */
export const capitalizeFirst = (text: string): string => {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0)
  if (text === '' || /\p{Uppercase}/u.test(first)) return text
  return first.toUpperCase() + text.slice(first.length)
}

/** `text[-1].isalnum()`: combining marks, circled letters and emoji are not alphanumeric. */
export const endsAlphanumeric = (text: string): boolean => /[\p{L}\p{N}]$/u.test(text.slice(-2))

/** Every surrogate without its partner becomes U+FFFD, as `TextEncoder` has it. */
export const replaceLoneSurrogates = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')
