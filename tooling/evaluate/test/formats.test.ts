import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { formatList, parseList } from '../src/listening-list.ts'
import { writeRates } from '../src/rates-table.ts'
import { parseHypotheses } from '../src/recogniser.ts'

it('reads the lists that it writes', () => {
  const list = [
    { file: 'rms/00.wav', text: 'Hello there.' },
    { file: 'rms/01.wav', text: 'It costs 25 dollars.' },
  ]
  expect(parseList(formatList(list))).toEqual(list)
})

it.each(['no tab', 'a\t', 'a\tb\tc'])('refuses the line "%s"', (line) => {
  expect(() => parseList(`a.wav\tHello.\n${line}\n`)).toThrow(/^line 2 is /)
})

it("reads pocketsphinx's hypotheses, whatever their order and where some are missing", () => {
  const output = ' (3 -120)\nwhere are we (0 -2437)\nthe(2) read(3) book (2 -99)\n'
  expect(parseHypotheses(output, 4)).toEqual(['where are we', '', 'the read book', ''])
})

it('writes rates into the README of the embedded model, again and again', () => {
  const readme = readFileSync(new URL('../../../packages/mini/README.md', import.meta.url), 'utf8')
  const ours = (text: string, voice: string) =>
    text
      .split('\n')
      .find((line) => line.startsWith(`| \`${voice}\` |`))
      ?.split('|')[3]
      ?.trim()
  const first = writeRates(
    readme,
    new Map([
      ['rms', 8.62],
      ['slt', 19],
    ]),
  )
  expect(['rms', 'awb', 'slt'].map((voice) => ours(first, voice))).toEqual([
    '8.6 %',
    ours(readme, 'awb'),
    '19.0 %',
  ])
  expect(first.length).toBe(readme.length)
  const second = writeRates(first, new Map([['rms', 12.34]]))
  expect(['rms', 'slt'].map((voice) => ours(second, voice))).toEqual(['12.3 %', '19.0 %'])
  expect(() => writeRates(readme, new Map([['max', 1]]))).toThrow("no row for the voice 'max'")
})
