import { InvalidArgumentError } from 'commander'

/** A number as people write it. Ranges are checked where they are known: in the packages. */
export const parseNumber = (text: string): number => {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}

/** Seeds have 64 bits, more than a number holds. */
export const parseSeed = (text: string): bigint => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number, not negative.')
  return BigInt(text)
}

/** One of the values that an option takes. */
export const parseChoice =
  (values: readonly string[]) =>
  (text: string): string => {
    if (!values.includes(text)) throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`)
    return text
  }
