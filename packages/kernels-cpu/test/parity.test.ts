import { createCpuKernels } from '@pocket/kernels-cpu'
import { type Activation, historyRows, type Kernels, type Norm, type Precision } from '@pocket/nn'
import { noise, relativeL2 } from '@tooling/fixtures'
import { type Build, outputs, stored } from '@tooling/one-tap'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { levels } from './levels.ts'

/**
 * Every operation of every executor against the oracle, over sizes that no kernel is made for. Float32 sums of some
 * hundred terms in any order stay well within 2e-6.
 */
const tolerance = 2e-6

/**
 * Two activations that differ in their last digit may round to two integers, and a sum may cancel to a fraction of its
 * terms: a step is 1.2e-4 of the greatest value of a row of 14 bits.
 */
const activatedIntegers = 2e-3

const toleranceOf = (precision: Precision, activation: Activation): number =>
  precision === 'stored' || activation === 'none' ? tolerance : activatedIntegers

/** Relative to the outputs, or to the terms of order one that they are sums of where those happen to cancel. */
const errorOf = (actual: Float32Array, golden: Float32Array): number =>
  relativeL2(actual, golden) * Math.min(1, Math.hypot(...golden) / Math.sqrt(golden.length))

const size = (max: number) => fc.integer({ min: 1, max })
const dtype = fc.constantFrom('F32' as const, 'BF16' as const)
const activation = fc.constantFrom('none' as const, 'elu' as const, 'gelu' as const, 'silu' as const)
const precision = fc.constantFrom('stored' as const, 'int8' as const, 'int16' as const)
const numRuns = 60

describe.each(levels.filter(({ level }) => level !== 'scalar'))(
  '$title computes what the oracle does',
  (entry) => {
    const test = it.skipIf(entry.missing)
    let kernels: Kernels
    let oracle: Kernels
    beforeAll(async () => {
      if (entry.missing) return
      kernels = await createCpuKernels({ simd: entry.level })
      oracle = await createCpuKernels({ simd: 'scalar' })
    })

    const agree = async (build: Build, runs = 1, bound = tolerance): Promise<void> => {
      const expected = await outputs(oracle, build, runs)
      const actual = await outputs(kernels, build, runs)
      for (const [run, golden] of expected.entries()) {
        expect(errorOf(actual[run]!, golden), `run ${run}`).toBeLessThan(bound)
      }
    }

    test('linear, with every epilogue, on views', async () => {
      const shape = fc.record({
        rows: size(21),
        inputs: size(70),
        outputs: size(70),
        margin: fc.nat({ max: 9 }),
      })
      const epilogue = fc.record({
        dtype,
        precision,
        activation,
        bias: fc.boolean(),
        residual: fc.boolean(),
        scale: fc.constantFrom('one', 'number', 'vector', 'tensor'),
      })
      await fc.assert(
        fc.asyncProperty(shape, epilogue, async ({ rows, inputs, outputs, margin }, options) => {
          await agree((on) => {
            const bias = options.bias ? { bias: noise(outputs, 7) } : {}
            const weight = stored([outputs, inputs], 8, options.dtype)
            const matrix = on.matrix({ weight, precision: options.precision, ...bias })
            const layerScale = on.vector(noise(outputs, 9))
            return (ops) => {
              const wide = ops.input('x', rows + 2, inputs + 2 * margin)
              const x = ops.rows(ops.columns(wide, margin, inputs), 1, rows)
              const gate = ops.columns(ops.input('gate', rows, outputs + margin), margin, outputs)
              const scale = { one: 1, number: 0.37, vector: layerScale, tensor: gate }[options.scale]!
              const residual = options.residual ? { residual: ops.input('residual', rows, outputs) } : {}
              return ops.linear(x, matrix, { activation: options.activation, scale, ...residual })
            }
          })
        }),
        { numRuns },
      )
    })

    test('layer norm, with and without modulation', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.record({ rows: size(9), columns: fc.integer({ min: 2, max: 70 }), margin: fc.nat({ max: 5 }) }),
          fc.boolean(),
          fc.boolean(),
          async ({ rows, columns, margin }, affine, modulated) => {
            await agree((on) => {
              const norm: Norm = affine
                ? { weight: on.vector(noise(columns, 3)), bias: on.vector(noise(columns, 4)), eps: 1e-5 }
                : { eps: 1e-6 }
              return (ops) => {
                const x = ops.columns(ops.input('x', rows, columns + margin), margin, columns)
                const both = ops.input('modulation', rows, 2 * columns + margin)
                const modulation = {
                  shift: ops.columns(both, margin, columns),
                  scale: ops.columns(both, margin + columns, columns),
                }
                return ops.layerNorm(x, norm, modulated ? modulation : undefined)
              }
            })
          },
        ),
        { numRuns },
      )
    })

    test('attention over linear caches and rings, run after run', async () => {
      const geometry = fc.record({
        heads: size(4),
        headDim: fc.constantFrom(2, 4, 6, 8, 16, 64),
        rows: size(9),
        window: fc.option(size(20), { nil: undefined }),
        loaded: fc.nat({ max: 11 }),
        spare: fc.nat({ max: 7 }),
      })
      await fc.assert(
        fc.asyncProperty(geometry, async ({ heads, headDim, rows, window, loaded, spare }) => {
          const runs = 6
          const needed = window === undefined ? loaded + rows * runs : Math.max(window + rows, loaded)
          const options = { heads, headDim, capacity: needed + spare, maxPeriod: 10000 }
          await agree((on) => {
            const cache = on.kvCache(window === undefined ? options : { ...options, window })
            const width = heads * headDim
            cache.load(noise(loaded * width, 5), noise(loaded * width, 6), loaded)
            return (ops) => ops.attention(ops.input('qkv', rows, 3 * width), cache)
          }, runs)
        }),
        { numRuns },
      )
    })

    test('convolution, streamed over several runs', async () => {
      const geometry = fc.record({
        inputChannels: size(20),
        outputChannels: size(20),
        stride: size(4),
        extra: fc.nat({ max: 6 }),
        dilation: size(2),
        steps: size(12),
        padding: fc.constantFrom('zero' as const, 'replicate' as const),
      })
      const options = fc.record({
        dtype,
        precision,
        inputActivation: activation,
        bias: fc.boolean(),
        residual: fc.boolean(),
      })
      await fc.assert(
        fc.asyncProperty(
          geometry,
          options,
          async (g, { dtype, precision, inputActivation, bias, residual }) => {
            await agree(
              (on) => {
                const weights = on.convolution({
                  weight: stored([g.outputChannels, g.inputChannels, g.stride + g.extra], 2, dtype),
                  ...(bias && { bias: noise(g.outputChannels, 3) }),
                  stride: g.stride,
                  dilation: g.dilation,
                  padding: g.padding,
                  precision,
                })
                const state = on.convolutionState(weights)
                expect(state.rows).toBe(historyRows(weights))
                return (ops) => {
                  const x = ops.input('x', g.steps * g.stride, g.inputChannels)
                  const added = residual ? { residual: ops.input('residual', g.steps, g.outputChannels) } : {}
                  return ops.convolution(x, weights, state, { inputActivation, ...added })
                }
              },
              3,
              toleranceOf(precision, inputActivation),
            )
          },
        ),
        { numRuns },
      )
    })

    test('transposed convolution, streamed over several runs', async () => {
      const geometry = fc.record({
        inputChannels: size(20),
        outputChannels: size(20),
        stride: size(5),
        taps: size(3),
        rows: size(9),
        depthwise: fc.boolean(),
      })
      const options = fc.record({ dtype, precision, inputActivation: activation, bias: fc.boolean() })
      await fc.assert(
        fc.asyncProperty(geometry, options, async (g, { dtype, precision, inputActivation, bias }) => {
          await agree(
            (on) => {
              const outputChannels = g.depthwise ? g.inputChannels : g.outputChannels
              const weights = on.transposedConvolution({
                weight: stored(
                  [g.inputChannels, g.depthwise ? 1 : outputChannels, g.stride * g.taps],
                  2,
                  dtype,
                ),
                ...(bias && { bias: noise(outputChannels, 3) }),
                stride: g.stride,
                depthwise: g.depthwise,
                precision,
              })
              const state = on.convolutionState(weights)
              return (ops) =>
                ops.transposedConvolution(ops.input('x', g.rows, g.inputChannels), weights, state, {
                  inputActivation,
                })
            },
            3,
            toleranceOf(precision, inputActivation),
          )
        }),
        { numRuns },
      )
    })

    test('adding a vector, with an activation', async () => {
      await fc.assert(
        fc.asyncProperty(size(9), size(70), activation, async (rows, columns, activation) => {
          await agree((on) => {
            const vector = on.vector(noise(columns, 3))
            return (ops) => ops.addVector(ops.input('x', rows, columns), vector, activation)
          })
        }),
        { numRuns },
      )
    })
  },
)
