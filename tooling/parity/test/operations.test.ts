import process from 'node:process'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { createGpuKernels } from '@pocket/kernels-wgsl'
import type { Norm } from '@pocket/nn'
import { noise, relativeL2 } from '@tooling/fixtures'
import { describeOnGpu } from '@tooling/fixtures/gpu'
import { type Build, outputs, stored } from '@tooling/one-tap'
import fc from 'fast-check'
import { expect, it } from 'vitest'

/**
 * Every operation against the oracle, over sizes that no kernel is made for. Float32 sums of some hundred terms in any
 * order stay well within 2e-6.
 */
const tolerance = 2e-6

/** Each case compiles a kernel, which a processor that stands for a GPU takes its time for. */
const numRuns = Number(process.env.PARITY_RUNS ?? 5)

const oracle = await createCpuKernels({ simd: 'scalar' })
const size = (max: number) => fc.integer({ min: 1, max })
const dtype = fc.constantFrom('F32' as const, 'BF16' as const, 'F16' as const)
const activation = fc.constantFrom('none' as const, 'elu' as const, 'gelu' as const, 'silu' as const)

// Cut as for a GPU, not for the processor that stands for one: slices and tiles of several sizes.
const create = (variant: { subgroups: boolean }) =>
  createGpuKernels({
    ...variant,
    tuning: { threads: 1 << 12, unroll: 4, workgroup: variant.subgroups ? 256 : 64 },
  })

await describeOnGpu('computes what the oracle does', create, (kernels) => {
  const agree = async (build: Build, runs = 1): Promise<void> => {
    const expected = await outputs(oracle, build, runs)
    const actual = await outputs(kernels(), build, runs)
    for (const [run, golden] of expected.entries()) {
      expect(relativeL2(actual[run]!, golden), `run ${run}`).toBeLessThan(tolerance)
    }
  }
  const forAll = <T>(cases: fc.Arbitrary<T>, check: (one: T) => Promise<void>): Promise<void> =>
    fc.assert(fc.asyncProperty(cases, check), { numRuns })

  it('linear, with every epilogue, on views', async () => {
    const shape = {
      rows: size(21),
      inputs: size(300),
      outputs: size(70),
      margin: fc.nat({ max: 9 }),
      by4: fc.boolean(),
    }
    const epilogue = {
      dtype,
      activation,
      bias: fc.boolean(),
      residual: fc.boolean(),
      scale: fc.constantFrom('one', 'number', 'vector', 'tensor'),
      norm: fc.boolean(),
      post: fc.option(activation, { nil: undefined }),
    }
    await forAll(fc.record({ ...shape, ...epilogue }), async (options) => {
      const [inputs, margin] = options.by4
        ? [4 * options.inputs, 4 * options.margin]
        : [options.inputs + 1, options.margin]
      const { rows, outputs } = options
      await agree((on) => {
        const bias = options.bias ? { bias: noise(outputs, 7) } : {}
        const matrix = on.matrix({ weight: stored([outputs, inputs], 8, options.dtype), ...bias })
        const layerScale = on.vector(noise(outputs, 9))
        const norm = { weight: on.vector(noise(inputs, 10)), bias: on.vector(noise(inputs, 11)), eps: 1e-5 }
        const added = on.vector(noise(outputs, 12))
        return (ops) => {
          const wide = ops.input('x', rows + 2, inputs + 2 * margin)
          const x = ops.rows(ops.columns(wide, margin, inputs), 1, rows)
          const gate = ops.columns(ops.input('gate', rows, outputs + margin), margin, outputs)
          const scale = { one: 1, number: 0.37, vector: layerScale, tensor: gate }[options.scale]!
          const residual = options.residual ? { residual: ops.input('residual', rows, outputs) } : {}
          const y = ops.linear(options.norm ? ops.layerNorm(x, norm) : x, matrix, {
            activation: options.activation,
            scale,
            ...residual,
          })
          return options.post ? ops.addVector(y, added, options.post) : y
        }
      })
    })
  })

  it('linear over many rows and long ones', async () => {
    for (const [rows, inputs, outputs] of [
      [1, 4096, 24],
      [40, 256, 96],
      [130, 64, 130],
    ] as const) {
      await agree((on) => {
        const matrix = on.matrix({ weight: stored([outputs, inputs], 8, 'BF16') })
        return (ops) => ops.linear(ops.input('x', rows, inputs), matrix)
      })
    }
  })

  it('linear over float16 from the least to the greatest', async () => {
    const [outputs, inputs] = [12, 200]
    // Multiples of 2⁻²⁴ without a leading one, numbers of order one, and up to 65504.
    for (const [first, count] of [
      [1, 0x3ff],
      [0x3800, 0x800],
      [0x7800, 0x3ff],
    ] as const) {
      const patterns = Uint16Array.from(
        { length: outputs * inputs },
        (_, index) => (first + ((index * 739) % count)) | (index % 3 === 0 ? 0x8000 : 0),
      )
      await agree((on) => {
        const matrix = on.matrix({
          weight: { dtype: 'F16', shape: [outputs, inputs], bytes: new Uint8Array(patterns.buffer) },
        })
        return (ops) => ops.linear(ops.input('x', 2, inputs), matrix)
      })
    }
  })

  it('layer norm, with and without modulation', async () => {
    const cases = {
      rows: size(9),
      columns: fc.integer({ min: 2, max: 70 }),
      margin: fc.nat({ max: 5 }),
      affine: fc.boolean(),
      modulated: fc.constantFrom('no', 'one tensor', 'two tensors'),
      fused: fc.boolean(),
    }
    await forAll(fc.record(cases), async ({ rows, columns, margin, affine, modulated, fused }) => {
      await agree((on) => {
        const norm: Norm = affine
          ? { weight: on.vector(noise(columns, 3)), bias: on.vector(noise(columns, 4)), eps: 1e-5 }
          : { eps: 1e-6 }
        const matrix = on.matrix({ weight: stored([5, columns], 8, 'F32') })
        return (ops) => {
          const x = ops.columns(ops.input('x', rows, columns + margin), margin, columns)
          const both = ops.input('modulation', rows, 2 * columns + margin)
          const other = ops.input('other', rows, columns)
          const modulation = {
            shift: modulated === 'two tensors' ? other : ops.columns(both, margin, columns),
            scale: ops.columns(both, margin + columns, columns),
          }
          const normed = ops.layerNorm(x, norm, modulated === 'no' ? undefined : modulation)
          return fused ? ops.linear(normed, matrix) : normed
        }
      })
    })
  })

  it('attention over linear caches and rings, run after run', async () => {
    const geometry = {
      heads: size(4),
      headDim: fc.constantFrom(2, 4, 6, 8, 16, 64),
      rows: size(9),
      window: fc.option(size(20), { nil: undefined }),
      loaded: fc.nat({ max: 11 }),
      spare: fc.nat({ max: 7 }),
    }
    await forAll(fc.record(geometry), async ({ heads, headDim, rows, window, loaded, spare }) => {
      const runs = 6
      const needed = window === undefined ? loaded + rows * runs : Math.max(window + rows, loaded)
      const options = { heads, headDim, capacity: needed + spare, maxPeriod: 10000 }
      await agree((on) => {
        const cache = on.kvCache(window === undefined ? options : { ...options, window })
        const width = heads * headDim
        cache.load(noise(loaded * width, 5), noise(loaded * width, 6), loaded)
        return (ops) => ops.attention(ops.input('qkv', rows, 3 * width), cache)
      }, runs)
    })
  })

  it('attention over more positions than scores are held for', async () => {
    const [heads, headDim, loaded] = [1, 8, 2300]
    await agree((on) => {
      const cache = on.kvCache({ heads, headDim, capacity: loaded + 6, maxPeriod: 10000 })
      cache.load(noise(loaded * headDim, 5), noise(loaded * headDim, 6), loaded)
      return (ops) => ops.attention(ops.input('qkv', 3, 3 * headDim), cache)
    }, 2)
  })

  it('convolution, streamed over several runs', async () => {
    const cases = {
      inputChannels: size(20),
      outputChannels: size(20),
      stride: size(4),
      extra: fc.nat({ max: 6 }),
      dilation: size(2),
      steps: size(12),
      padding: fc.constantFrom('zero' as const, 'replicate' as const),
      dtype,
      inputActivation: activation,
      bias: fc.boolean(),
      residual: fc.boolean(),
    }
    await forAll(fc.record(cases), async ({ dtype, inputActivation, bias, residual, ...g }) => {
      await agree((on) => {
        const weights = on.convolution({
          weight: stored([g.outputChannels, g.inputChannels, g.stride + g.extra], 2, dtype),
          ...(bias && { bias: noise(g.outputChannels, 3) }),
          stride: g.stride,
          dilation: g.dilation,
          padding: g.padding,
        })
        const state = on.convolutionState(weights)
        return (ops) => {
          const x = ops.input('x', g.steps * g.stride, g.inputChannels)
          const added = residual ? { residual: ops.input('residual', g.steps, g.outputChannels) } : {}
          return ops.convolution(x, weights, state, { inputActivation, ...added })
        }
      }, 3)
    })
  })

  it('transposed convolution, streamed over several runs', async () => {
    const cases = {
      inputChannels: size(20),
      outputChannels: size(20),
      stride: size(5),
      taps: size(3),
      rows: size(9),
      depthwise: fc.boolean(),
      dtype,
      inputActivation: activation,
      bias: fc.boolean(),
    }
    await forAll(fc.record(cases), async ({ dtype, inputActivation, bias, ...g }) => {
      await agree((on) => {
        const outputChannels = g.depthwise ? g.inputChannels : g.outputChannels
        const weights = on.transposedConvolution({
          weight: stored([g.inputChannels, g.depthwise ? 1 : outputChannels, g.stride * g.taps], 2, dtype),
          ...(bias && { bias: noise(outputChannels, 3) }),
          stride: g.stride,
          depthwise: g.depthwise,
        })
        const state = on.convolutionState(weights)
        return (ops) =>
          ops.transposedConvolution(ops.input('x', g.rows, g.inputChannels), weights, state, {
            inputActivation,
          })
      }, 3)
    })
  })

  it('adding a vector, with an activation', async () => {
    await forAll(
      fc.record({ rows: size(9), columns: size(70), activation }),
      async ({ rows, columns, activation }) => {
        await agree((on) => {
          const vector = on.vector(noise(columns, 3))
          return (ops) => ops.addVector(ops.input('x', rows, columns), vector, activation)
        })
      },
    )
  })
})
