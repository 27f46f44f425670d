import { type LoadOptions, PocketTts } from '@pocket/tts'
import { describeChoices, loadChoices, loadCounts } from '@pocket/tts/options'
import { describe, expect, test } from 'vitest'
import { refusal } from './support/errors.ts'
import { tinyFolder } from './support/tiny.ts'

/** Refused for another reason than the option: so the option itself was taken. */
const isTaken = (options: LoadOptions) =>
  refusal(PocketTts.load(`${tinyFolder}/nowhere`, options), 'not-found', 'nowhere')

describe('what people may choose is what loading takes', () => {
  test.each(Object.entries(loadChoices))('%s', async (name, { values }) => {
    for (const value of Object.keys(values)) await isTaken({ [name]: value })
    const all = Object.keys(values).join(', ')
    await refusal(
      PocketTts.load(tinyFolder, { [name]: 'nonsense' }),
      'invalid-option',
      `${name} is nonsense; it must be one of ${all}`,
    )
  })

  test.each(Object.entries(loadCounts))('%s', async (name, { least, most }) => {
    await isTaken({ [name]: least })
    await isTaken({ [name]: most })
    for (const count of [least - 1, most + 1, 1.5]) {
      await refusal(PocketTts.load(tinyFolder, { [name]: count }), 'invalid-option', `${name} is ${count}`)
    }
  })

  test('the usual value is the first', async () => {
    const tts = await PocketTts.load(tinyFolder)
    const usual = await PocketTts.load(
      tinyFolder,
      Object.fromEntries(
        Object.entries(loadChoices).map(([name, { values }]) => [name, Object.keys(values)[0]]),
      ),
    )
    const options = { voice: 'voice-3', framesAfterEos: 2, eosThreshold: -1000 }
    expect(await usual.generate('Yes.', options)).toEqual(await tts.generate('Yes.', options))
    tts.dispose()
    usual.dispose()
  })

  test('help names every value, and says what it means', () => {
    const choices = { about: 'which side', values: { left: 'the usual one', right: 'the other' } }
    expect(describeChoices(choices)).toBe('which side\n  left: the usual one\n  right: the other')
  })
})
