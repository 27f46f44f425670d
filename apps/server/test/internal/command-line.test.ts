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
      cloning: 'ready',
      simd: 'simd',
      threads: 2,
      gpuTuning: 'fastest',
      lanes: 4,
    }
    const numbers = ['--threads', '2', '--lanes', '4']
    const names = ['--backend', 'gpu', '--codec-precision', 'int16', '--cloning', 'ready', '--simd', 'simd']
    const flags = [...numbers, ...names, '--gpu-tuning', 'fastest']
    expect(parse(...flags, '--quantize').loading).toEqual(said)
    expect(parse(...flags, '--precision', 'int8').loading).toEqual(said)
    vi.stubEnv('POCKET_THREADS', '2')
    vi.stubEnv('POCKET_LANES', '4')
    vi.stubEnv('POCKET_BACKEND', 'gpu')
    vi.stubEnv('POCKET_QUANTIZE', '1')
    vi.stubEnv('POCKET_CODEC_PRECISION', 'int16')
    vi.stubEnv('POCKET_CLONING', 'ready')
    vi.stubEnv('POCKET_SIMD', 'simd')
    vi.stubEnv('POCKET_GPU_TUNING', 'fastest')
    expect(parse().loading).toEqual(said)
  })
})
