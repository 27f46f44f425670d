import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixturePath } from '@tooling/fixtures'
import { describe, expect, it } from 'vitest'
import { useFolder } from './folder.ts'
import { finished, pocket, start } from './pocket.ts'

const folder = useFolder()
const otherVoice = fixturePath('tiny/tiny-2026-04/voices/voice-f32.safetensors')

describe('wrong input: exit code 2, one message, nothing written', () => {
  it.each<[string, string[], RegExp]>([
    ['no text', [], /nothing to say: give a text/],
    ['an empty text', [''], /text is empty/],
    ['a text of only spaces', [' \t\n '], /text is empty/],
    ['two texts', ['One.', '--text', 'Two.'], /given twice/],
    ['an unknown voice', ['Hi.', '--voice', 'nobody'], /no voice 'nobody'; it has awb, rms, slt/],
    ['a voice file that is not there', ['Hi.', '--voice', './gone.safetensors'], /gone\.safetensors/],
    ['a voice of another model', ['Hi.', '--voice', otherVoice], /voice-f32\.safetensors/],
    ['a model that nobody knows', ['Hi.', '--model', 'gone'], /no checkpoint 'gone'; did you mean german/],
    ['a model that is not there', ['Hi.', '--model', './gone'], /there is no folder .*\/gone/],
    ['a folder without a model', ['Hi.', '--model', '.'], /neither config\.yaml nor model\.safetensors/],
    ['a temperature that is no number', ['Hi.', '--temperature', 'warm'], /'warm' is invalid/],
    ['NaN for a temperature', ['Hi.', '--temperature', 'NaN'], /'NaN' is invalid/],
    ['a negative temperature', ['Hi.', '--temperature', '-1'], /temperature is -1/],
    ['no flow steps', ['Hi.', '--lsd-decode-steps', '0'], /lsdSteps is 0/],
    ['half a frame', ['Hi.', '--frames-after-eos', '0.5'], /framesAfterEos is 0\.5/],
    ['a negative seed', ['Hi.', '--seed', '-1'], /'-1' is invalid/],
    [
      'a seed of more than 64 bits',
      ['Hi.', '--seed', '18446744073709551616'],
      /seed is 18446744073709551616/,
    ],
    ['an unknown level', ['Hi.', '--simd', 'avx'], /Allowed choices are auto, relaxed, simd, scalar/],
    ['no threads', ['Hi.', '--threads', '0'], /threads is 0/],
    ['threads that are no number', ['Hi.', '--threads', 'all'], /'all' is invalid/],
    ['an unknown option', ['Hi.', '--loud'], /unknown option '--loud'/],
    ['a folder as output', ['Hi.', '-o', '.'], /is a folder; name a file in it/],
    ['a folder to be as output', ['Hi.', '-o', 'new/'], /is the name of a folder; name a file in it/],
    ['an output in a folder that is not there', ['Hi.', '-o', 'gone/x.wav'], /there is no folder .*gone/],
    ['no output', ['Hi.', '-o', ''], /output path is empty/],
  ])('%s', async (_title, args, message) => {
    const { code, stdout, stderr } = await pocket(['generate', ...args], folder.path)
    expect({ code, stdout: String(stdout) }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^pocket: /)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\n {4}at /)
    expect(folder.files()).toEqual([])
  })

  it('standard input that is no text', async () => {
    const run = await pocket(['generate', '-'], folder.path, new Uint8Array([0x52, 0xff, 0xfe]))
    expect(run).toMatchObject({
      code: 2,
      stderr: 'pocket: standard input is not UTF-8 text; convert it first\n',
    })
  })

  it('a command that does not exist, and none', async () => {
    expect(await pocket(['sing'], folder.path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'sing'"),
    })
    expect(await pocket([], folder.path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Usage: pocket'),
    })
  })

  it('leaves an older file as it was', async () => {
    writeFileSync(join(folder.path, 'x.wav'), 'precious')
    expect((await pocket(['generate', 'Hi.', '--voice', 'nobody', '-o', 'x.wav'], folder.path)).code).toBe(2)
    expect(String(Buffer.from(folder.read('x.wav')))).toBe('precious')
    expect(folder.files()).toEqual(['x.wav'])
  })

  it.each([
    ['--debug', ['--debug'], {}],
    ['POCKET_DEBUG', [], { POCKET_DEBUG: '1' }],
  ])('shows the stack with %s', async (_title, args, env) => {
    const child = start(['generate', '', ...args], folder.path, env)
    expect(await finished(child)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^PocketTtsError: .*\n {4}at /),
    })
  })
})
