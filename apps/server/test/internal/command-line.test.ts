import { afterEach, describe, expect, it, vi } from 'vitest'
import { parseCommandLine } from '../../src/command/command-line.ts'

const parse = (...args: string[]) =>
  parseCommandLine(args, { name: 'pocket-server', out: () => {}, err: () => {} })

describe('how a model is computed', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('is left to the model and the machine unless said', () => {
    expect(parse().loading).toEqual({})
  })

  it('is said by flags, or by variables', () => {
    const said = {
      backend: 'gpu',
      precision: 'int8',
      codecPrecision: 'int16',
      simd: 'simd',
      threads: 2,
      lanes: 4,
    }
    const flags = ['--threads', '2', '--lanes', '4', '--backend', 'gpu', '--codec-precision', 'int16']
    expect(parse(...flags, '--simd', 'simd', '--quantize').loading).toEqual(said)
    expect(parse(...flags, '--simd', 'simd', '--precision', 'int8').loading).toEqual(said)
    vi.stubEnv('POCKET_THREADS', '2')
    vi.stubEnv('POCKET_LANES', '4')
    vi.stubEnv('POCKET_BACKEND', 'gpu')
    vi.stubEnv('POCKET_QUANTIZE', '1')
    vi.stubEnv('POCKET_CODEC_PRECISION', 'int16')
    vi.stubEnv('POCKET_SIMD', 'simd')
    expect(parse().loading).toEqual(said)
  })
})
