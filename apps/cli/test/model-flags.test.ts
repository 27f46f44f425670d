import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { predefinedVoices } from '@pocket/tts'
import { fixturePath, readFixture } from '@tooling/fixtures'
import { beforeEach, describe, expect, it } from 'vitest'
import { french, useHub } from './hub.ts'

const hub = useHub()
beforeEach(() => hub.publishFrench())

const tiny = fixturePath('tiny/tiny-2026-04')
const speak = ['--frames-after-eos', '1', '--eos-threshold', '-1000', '-o', 'x.wav', 'Oui.']

describe('pocket generate', () => {
  it('--language fetches a published model, says once that it clones no voices, and speaks', async () => {
    const first = await hub.pocket(['generate', '--language', french.id, ...speak])
    expect(first.code).toBe(0)
    expect(first.stdout).toMatch(/^x\.wav: 0\.08 s of speech/)
    expect(first.stderr).toMatch(/^pocket: warning: voices cannot be cloned: .*\n$/)
    const asked = hub.server.seen.length
    expect(await hub.pocket(['generate', '--language', french.id, ...speak])).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(hub.server.seen).toHaveLength(asked)
    expect(await hub.pocket(['generate', '--model', french.id, ...speak])).toMatchObject({
      code: 0,
      stderr: '',
    })
  })

  it('--config takes a file whose paths are its own, here or on the hub; --model takes the folder', async () => {
    for (const file of [
      'config.yaml',
      'model.safetensors',
      'tokenizer.model',
      'voices/voice-3.safetensors',
    ]) {
      server().add(
        'someone/model',
        file,
        readFixture(`tiny/tiny-2026-04/${file}`),
        file === 'model.safetensors',
      )
    }
    for (const model of [
      ['--config', join(tiny, 'config.yaml')],
      ['--config', 'hf://someone/model/config.yaml@main'],
      ['--model', 'hf://someone/model'],
    ]) {
      const run = await hub.pocket(['generate', ...model, '--voice', 'voice-3', ...speak])
      expect(run).toMatchObject({ code: 0, stderr: '' })
    }
  })

  it('--config refuses a key that the reference does not know, and names the nearest', async () => {
    writeFileSync(join(hub.cache, 'wrong.yaml'), 'weight_path: model.safetensors\n')
    expect(await hub.pocket(['generate', '--config', 'wrong.yaml', 'Oui.'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no key "weight_path"; the nearest known key is weights_path/),
    })
  })

  it.each<[string, string[], RegExp]>([
    [
      'two models',
      ['--language', 'german', '--model', tiny],
      /'--language <id>' cannot be used with option '--model/,
    ],
    ['a model and a config', ['--model', tiny, '--config', 'x.yaml'], /cannot be used with option/],
    ['a language and a config', ['--config', 'x.yaml', '--language', 'german'], /cannot be used with option/],
    ['an unknown language', ['--language', 'germn'], /no checkpoint 'germn'; did you mean german\?/],
    ['a place for a language', ['--language', './german'], /no checkpoint '\.\/german'/],
    [
      'a folder for a config',
      ['--config', tiny],
      /no \.yaml file; a published model is named with --language/,
    ],
    [
      'a backend that is none',
      ['--backend', 'tpu'],
      /'tpu' is invalid\. Allowed choices are auto, cpu, hybrid, gpu\./,
    ],
    ['a precision that is none', ['--precision', 'int4'], /Allowed choices are stored, int8, bf16, f32\./],
    [
      'a precision of the codec that is none',
      ['--codec-precision', 'int8'],
      /Allowed choices are stored, int16\./,
    ],
    ['a tuning that is none', ['--gpu-tuning', 'quick'], /Allowed choices are auto, fastest\./],
    ['a level that is none', ['--simd', 'avx'], /Allowed choices are auto, relaxed, simd, scalar\./],
    [
      'more threads than there can be',
      ['--threads', '65'],
      /threads is 65; it must be a whole number from 1 to 64/,
    ],
    [
      'two precisions',
      ['--quantize', '--precision', 'f32'],
      /'--quantize' cannot be used with option '--precision/,
    ],
    ['integers on a GPU', ['--codec-precision', 'int16', '--backend', 'gpu'], /use backend cpu/],
    [
      'a voice that no published model has',
      ['--language', 'german', '--voice', 'juergn'],
      /did you mean juergen\?/,
    ],
  ])('refuses %s: exit code 2, the hub is not asked', async (_title, args, message) => {
    const { code, stdout, stderr } = await hub.pocket(['generate', ...args, ...speak])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(server().seen).toEqual([])
  })

  it('--quantize speaks in eight bits: the same words, not the same samples', async () => {
    const sound = async (file: string, ...flags: string[]): Promise<Uint8Array> => {
      const run = await hub.pocket([
        'generate',
        '--model',
        tiny,
        '--voice',
        'voice-3',
        ...flags,
        ...speak,
        '-o',
        file,
      ])
      expect(run).toMatchObject({ code: 0, stderr: '' })
      return readFileSync(join(hub.cache, file))
    }
    const [plain, quantized] = [await sound('plain.wav'), await sound('quantized.wav', '--quantize')]
    expect(quantized).toHaveLength(plain.length)
    expect(quantized).not.toEqual(plain)
    expect(await sound('named.wav', '--precision', 'int8')).toEqual(quantized)
    const integers = await sound('integers.wav', '--codec-precision', 'int16')
    expect(integers).toHaveLength(plain.length)
    expect(integers).not.toEqual(plain)
  })

  it('says what is missing offline', async () => {
    const run = await hub.pocket(['generate', '--language', french.id, ...speak], { HF_HUB_OFFLINE: '1' })
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('is not in the cache') })
  })
})

describe('pocket voices', () => {
  it('--language lists those of a published model, and fetches nothing', async () => {
    const { code, stdout } = await hub.pocket(['voices', '--language', 'german'])
    expect({ code, names: stdout.trim().split('\n') }).toEqual({
      code: 0,
      names: Object.keys(predefinedVoices).sort(),
    })
    expect(server().seen).toEqual([])
  })

  it('--config lists those beside the file', async () => {
    const { stdout } = await hub.pocket(['voices', '--config', join(tiny, 'config.yaml')])
    expect(stdout.split('\n')).toContain('voice-bf16')
  })
})

describe('pocket export-voice, encode and decode', () => {
  it('take models by the same options', async () => {
    const recording = fixturePath('audio/int16.wav')
    const encoded = await hub.pocket([
      'encode',
      recording,
      '--config',
      join(tiny, 'config.yaml'),
      '-o',
      'l.safetensors',
    ])
    expect(encoded).toMatchObject({ code: 0, stderr: '' })
    const decoded = await hub.pocket(['decode', 'l.safetensors', '--language', french.id, '-q'])
    expect(decoded).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('encoded with the model tiny-2026-04'),
    })
  })
})

const server = () => hub.server
