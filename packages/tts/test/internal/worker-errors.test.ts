import { FlowLmError } from '@pocket/flowlm'
import { MimiError } from '@pocket/mimi'
import { KernelError } from '@pocket/nn'
import { SafeTensorsError } from '@pocket/safetensors'
import { SentencePieceError } from '@pocket/sentencepiece'
import { PocketTtsError } from '@pocket/tts'
import { describe, expect, test } from 'vitest'
import { packError, unpackError } from '../../src/worker/pack-error.ts'

/** To another thread and back. */
const travelled = (thrown: unknown): Error => unpackError(structuredClone(packError(thrown)))

describe('errors between threads', () => {
  test.each([
    new FlowLmError('capacity', 'full'),
    new KernelError('shape', 'odd'),
    new MimiError('no-encoder', 'deaf'),
    new PocketTtsError('too-long', 'long'),
    new SafeTensorsError('truncated', 'short'),
    new SentencePieceError('malformed-file', 'short'),
  ])('keep class and code: $name', (error) => {
    const found = travelled(error)
    expect(found).toBeInstanceOf(error.constructor)
    expect(found).toEqual(error)
    expect({ ...found }).toEqual({ ...error })
    expect(found.stack).toBe(error.stack)
  })

  test.each([new RangeError('r'), new TypeError('t'), new SyntaxError('s'), new Error('e')])(
    'of the language keep their class: $name',
    (error) => {
      const found = travelled(error)
      expect(found.constructor).toBe(error.constructor)
      expect([found.name, found.message, found.stack]).toEqual([error.name, error.message, error.stack])
    },
  )

  test('of the system keep their code', () => {
    const found = travelled(Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' }))
    expect(found).toMatchObject({ name: 'Error', message: 'ENOENT: no such file', code: 'ENOENT' })
  })

  test('of other kinds keep their name', () => {
    expect(travelled(new DOMException('slow', 'TimeoutError'))).toMatchObject({
      name: 'TimeoutError',
      message: 'slow',
    })
    class Odd extends Error {
      override readonly name = 'constructor'
      readonly code = 'toString'
    }
    expect(travelled(new Odd('odd'))).toMatchObject({ name: 'constructor', message: 'odd' })
  })

  test('keep their causes', () => {
    const cause = new SafeTensorsError('truncated', 'short', { cause: new RangeError('beyond') })
    const found = travelled(new PocketTtsError('invalid-model', 'bad', { cause }))
    expect(found.cause).toBeInstanceOf(SafeTensorsError)
    expect((found.cause as Error).cause).toBeInstanceOf(RangeError)
    expect('cause' in travelled(new Error('alone'))).toBe(false)
  })

  test('with a circle of causes come to an end', () => {
    const error = new Error('round')
    error.cause = error
    let depth = 0
    for (let each: unknown = travelled(error); each instanceof Error; each = each.cause) depth++
    expect(depth).toBeGreaterThan(1)
    expect(depth).toBeLessThan(20)
  })

  test.each([['text'], [undefined], [null], [7], [Symbol('s')]])(
    'are made of whatever else is thrown: %s',
    (thrown) => {
      expect(travelled(thrown).message).toBe(String(thrown))
    },
  )
})
