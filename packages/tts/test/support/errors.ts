import { PocketTtsError, type PocketTtsErrorCode } from '@pocket/tts'
import { expect } from 'vitest'

/** Expects a PocketTtsError of that code whose message holds all of `words`; gives the message back. */
export const refusal = async (
  attempt: Promise<unknown> | (() => unknown),
  code: PocketTtsErrorCode,
  ...words: (string | RegExp)[]
): Promise<string> => {
  let error: unknown
  try {
    const value = await (typeof attempt === 'function' ? attempt() : attempt)
    expect.fail(`expected a refusal (${code}), got ${String(value)}`)
  } catch (caught) {
    error = caught
  }
  expect(error).toBeInstanceOf(PocketTtsError)
  const { code: found, message } = error as PocketTtsError
  expect({ code: found, message }).toMatchObject({ code })
  for (const word of words) expect(message).toMatch(word instanceof RegExp ? word : new RegExp(literal(word)))
  return message
}

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
