import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SentenceBuffer } from '../../src/stream/sentence-buffer.ts'

describe('sentences are taken from text as it comes', () => {
  const sentences = (...pieces: string[]): string[] => {
    const buffer = new SentenceBuffer()
    const taken: string[] = []
    for (const piece of pieces) {
      buffer.push(piece)
      for (let text = buffer.take(); text !== undefined; text = buffer.take()) taken.push(text)
    }
    return [...taken, buffer.rest()].filter((text) => text.trim() !== '')
  }

  test.each([
    ['One. Two! Three? Four', ['One.', ' Two!', ' Three?', ' Four']],
    ['He said "stop." Then he left.', ['He said "stop."', ' Then he left.']],
    ['Pi is 3.14 and e is 2.718. Fine.', ['Pi is 3.14 and e is 2.718.', ' Fine.']],
    ['Dr. Smith and J. R. R. Tolkien met. Really.', ['Dr. Smith and J. R. R. Tolkien met.', ' Really.']],
    ['Visit the U.S. capital, e.g. by train. Now.', ['Visit the U.S. capital, e.g. by train.', ' Now.']],
    ['Version v1.0.0 is installed. Good.', ['Version v1.0.0 is installed.', ' Good.']],
    ['Wait... what?! Yes.', ['Wait...', ' what?!', ' Yes.']],
    ['A title\n\nA paragraph', ['A title', '\n\nA paragraph']],
    ['hard\nwrapped\nlines. Next', ['hard\nwrapped\nlines.', ' Next']],
    ['1. First item. 2. Second item.', ['1. First item.', ' 2. Second item.']],
    ['你好。再见。', ['你好。', '再见。']],
    ['... Hello. !!! Bye.', ['... Hello.', ' !!! Bye.']],
    ['', []],
    [' \n ', []],
  ])('%j', (text, expected) => {
    expect(sentences(text)).toEqual(expected)
  })

  test('as soon as the character after the end is there', () => {
    const buffer = new SentenceBuffer()
    buffer.push('Hello.')
    expect(buffer.take()).toBeUndefined()
    buffer.push('"')
    expect(buffer.take()).toBeUndefined()
    buffer.push(' ')
    expect(buffer.take()).toBe('Hello."')
  })

  test('in time that grows with the text, even where no sentence ever ends', () => {
    const buffer = new SentenceBuffer()
    let taken = 0
    for (let i = 0; i < 300_000; i++) {
      buffer.push(i % 3 === 0 ? '.' : '-')
      if (buffer.take() !== undefined) taken++
    }
    expect(taken).toBe(0)
    expect(buffer.rest()).toHaveLength(300_000)
  })

  test.each([
    ['marks', 'Hm', '.'],
    ['closing marks', 'Hm.', ')'],
    ['spaces', 'Hm\n', ' '],
  ])('of a long row of %s nothing is lost', (_, start, character) => {
    const row = Array.from({ length: 20_000 }, () => character)
    expect(sentences(start, ...row, ' ', 'Yes')).toHaveLength(start === 'Hm\n' ? 1 : 2)
    expect(sentences(start, ...row, ' ', 'Yes').join('')).toBe(`${start}${row.join('')} Yes`)
  })

  const anyText = fc
    .array(
      fc.constantFrom(
        'a',
        'Dr',
        '.',
        '!',
        '?',
        ' ',
        '\n',
        '"',
        '。',
        '…',
        '3',
        '.5',
        'é',
        '😀',
        '𝒜',
        '1.',
        ')',
      ),
      {
        maxLength: 40,
      },
    )
    .map((parts) => parts.join(''))

  test('law: nothing is lost, and where the text was cut makes no difference', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(40)), (text, cuts) => {
        const whole = sentences(text)
        const ends = [
          0,
          ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b),
          text.length,
        ]
        const pieces = ends.slice(1).map((end, i) => text.slice(ends[i], end))
        expect(sentences(...pieces)).toEqual(whole)
        const buffer = new SentenceBuffer()
        buffer.push(text)
        let rebuilt = ''
        for (let taken = buffer.take(); taken !== undefined; taken = buffer.take()) rebuilt += taken
        expect(rebuilt + buffer.rest()).toBe(text)
      }),
    )
  })
})
