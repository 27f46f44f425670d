import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseCommandLine } from '../../src/command/command-line.ts'

const parse = (...args: string[]) =>
  parseCommandLine(args, { name: 'pocket-server', out: () => {}, err: () => {} })

describe('how a model is computed', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('is left to the model and the machine unless said', () => {
    expect(parse()).toMatchObject({
      threads: undefined,
      lanes: undefined,
      backend: 'auto',
      quantize: false,
      codecPrecision: 'stored',
    })
  })

  it('is said by flags, or by variables', () => {
    const said = { threads: 2, lanes: 4, backend: 'gpu', quantize: true, codecPrecision: 'int16' }
    const flags = ['--threads', '2', '--lanes', '4', '--backend', 'gpu', '--codec-precision', 'int16']
    expect(parse(...flags, '--quantize')).toMatchObject(said)
    vi.stubEnv('POCKET_THREADS', '2')
    vi.stubEnv('POCKET_LANES', '4')
    vi.stubEnv('POCKET_BACKEND', 'gpu')
    vi.stubEnv('POCKET_QUANTIZE', '1')
    vi.stubEnv('POCKET_CODEC_PRECISION', 'int16')
    expect(parse()).toMatchObject(said)
  })
})
