import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Environment, readSettings } from '../../src/hub/node/environment.ts'
import { authorization } from '../../src/hub/settings.ts'

const invalid = expect.objectContaining({ name: 'PocketTtsError', code: 'invalid-option' })

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'pocket-home-'))
  writeFileSync(join(home, 'token'), 'hf_stored\n')
  writeFileSync(join(home, 'other-token'), ' hf_other ')
  writeFileSync(join(home, 'empty-token'), '\n')
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('the cache', () => {
  it.each<[Environment, string]>([
    [{}, join(homedir(), '.cache', 'huggingface', 'hub')],
    [{ XDG_CACHE_HOME: '/xdg' }, '/xdg/huggingface/hub'],
    [{ XDG_CACHE_HOME: '/xdg', HF_HOME: '/home' }, '/home/hub'],
    [{ HF_HOME: '~/models' }, join(homedir(), 'models', 'hub')],
    [{ HF_HOME: '/home', HUGGINGFACE_HUB_CACHE: '/old' }, '/old'],
    [{ HF_HOME: '/home', HUGGINGFACE_HUB_CACHE: '/old', HF_HUB_CACHE: '/new' }, '/new'],
    [{ HF_HUB_CACHE: '~' }, homedir()],
    [{ HF_HUB_CACHE: '', HF_HOME: '' }, join(homedir(), '.cache', 'huggingface', 'hub')],
  ])('of %j is %s', (environment, expected) => {
    expect(readSettings({}, environment).cacheDir).toBe(expected)
  })

  it('may be given', () => {
    expect(readSettings({ cacheDir: '/given' }, { HF_HUB_CACHE: '/new' }).cacheDir).toBe('/given')
  })
})

describe('the token', () => {
  const read = (environment: Environment, option?: string | false) => {
    const { token, tokenSource } = readSettings({ token: option }, { HF_HOME: home, ...environment })
    return { token, tokenSource }
  }

  it('is the one given, of a variable, or of the file, in this order', () => {
    expect(read({ HF_TOKEN: 'hf_env' }, 'hf_given')).toEqual({ token: 'hf_given', tokenSource: 'the option' })
    expect(read({ HF_TOKEN: 'hf_env' })).toEqual({ token: 'hf_env', tokenSource: 'HF_TOKEN' })
    expect(read({ HUGGING_FACE_HUB_TOKEN: 'hf_old' }).token).toBe('hf_old')
    expect(read({})).toEqual({ token: 'hf_stored', tokenSource: join(home, 'token') })
    expect(read({ HF_TOKEN_PATH: join(home, 'other-token') }).token).toBe('hf_other')
  })

  it('may be none', () => {
    const none = { token: undefined, tokenSource: undefined }
    expect(read({ HF_TOKEN: 'hf_env' }, false)).toEqual(none)
    expect(read({ HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' })).toEqual(none)
    expect(read({ HF_TOKEN_PATH: join(home, 'missing') })).toEqual(none)
    expect(read({ HF_TOKEN_PATH: join(home, 'empty-token') })).toEqual(none)
  })

  it.each(['hf_a\r\nx-evil: 1', 'hf ä', '   '])('%j is refused, and not repeated', (token) => {
    expect(() => read({ HF_TOKEN: token })).toThrow(invalid)
    expect(() => read({ HF_TOKEN: token })).toThrow(/the token from HF_TOKEN/)
    expect(() => read({}, token)).not.toThrow(/evil/)
  })

  it.each([
    ['https://huggingface.co', 'https://huggingface.co/o/r/resolve/main/a', true],
    ['https://huggingface.co', 'https://huggingface.co:8443/o/r', false],
    ['https://huggingface.co', 'http://huggingface.co/o/r', false],
    ['https://huggingface.co', 'https://cdn.huggingface.co/o/r', false],
    ['http://mirror.example', 'http://mirror.example/o/r', false],
    ['http://localhost:1234', 'http://localhost:1234/o/r', true],
    ['http://127.0.0.1:1234', 'http://127.0.0.1:1235/o/r', false],
    ['http://127.0.0.1.example', 'http://127.0.0.1.example/o/r', false],
  ])('for %s goes to %s: %s', (endpoint, url, goes) => {
    const headers = authorization(new URL(url), { endpoint, token: 'hf_x' })
    expect(headers).toEqual(goes ? { authorization: 'Bearer hf_x' } : {})
  })
})

describe('the rest', () => {
  it.each([
    ['1', true],
    ['ON', true],
    ['yes', true],
    ['True', true],
    ['0', false],
    ['', false],
    ['off', false],
  ])('HF_HUB_OFFLINE=%j is %s', (value, expected) => {
    expect(readSettings({}, { HF_HUB_OFFLINE: value }).offline).toBe(expected)
    expect(readSettings({}, { TRANSFORMERS_OFFLINE: value }).offline).toBe(expected)
    expect(readSettings({ offline: false }, { HF_HUB_OFFLINE: value }).offline).toBe(false)
  })

  it('is a mirror, without its slashes', () => {
    expect(readSettings({}, { HF_ENDPOINT: 'https://mirror.example/hf//' }).endpoint).toBe(
      'https://mirror.example/hf',
    )
    expect(readSettings({}, { HF_ENDPOINT: '' }).endpoint).toBe('https://huggingface.co')
    expect(readSettings({ endpoint: 'http://localhost:1' }, { HF_ENDPOINT: 'x' }).endpoint).toBe(
      'http://localhost:1',
    )
  })

  it.each(['mirror.example', 'file:///x', 'https://a b', 'https://x/?y', 'https://u:p@x'])(
    '%j is no endpoint',
    (text) => {
      expect(() => readSettings({}, { HF_ENDPOINT: text })).toThrow(invalid)
      expect(() => readSettings({}, { HF_ENDPOINT: text })).toThrow(
        /HF_ENDPOINT is .*expected something like https/,
      )
    },
  )
})
