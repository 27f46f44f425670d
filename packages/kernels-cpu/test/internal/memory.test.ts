import { type Kernels, record } from '@pocket/nn'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { WasmKernels } from '../../src/wasm/kernels.ts'
import { kernelModule } from '../../src/wasm/module.ts'
import { probeSimd } from '../../src/wasm/probe.ts'
import { Runtime } from '../../src/wasm/runtime.ts'

const f32 = (shape: number[], value = 1) => {
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1)).fill(value)
  return { dtype: 'F32' as const, shape, bytes: new Uint8Array(values.buffer) }
}

describe.skipIf(probeSimd() === 'scalar')('memory', () => {
  let runtime: Runtime
  let kernels: Kernels
  beforeEach(async () => {
    runtime = await Runtime.create(await kernelModule('simd'))
    kernels = new WasmKernels('test', runtime)
  })

  it('lays nothing at address 0, which means "not there"', () => {
    expect(runtime.allocate(1, 'a byte')).toBeGreaterThan(0)
  })

  it('grows, keeps what it held, and shows all of it', () => {
    const address = runtime.store(Float32Array.of(1, 2, 3), 'three values')
    const before = runtime.floats
    const far = runtime.allocateFloats(1_000_000, 'a million values')
    expect(runtime.floats).not.toBe(before)
    expect([...runtime.floats.subarray(address / 4, address / 4 + 3)]).toEqual([1, 2, 3])
    expect(far + 4_000_000).toBeLessThanOrEqual(runtime.floats.byteLength)
  })

  it('says how much was asked for when it cannot grow', () => {
    const grow = vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(() => {
      throw new RangeError('WebAssembly.Memory.grow(): Unable to grow instance memory')
    })
    const used = runtime.used
    expect(() => kernels.matrix({ weight: f32([1024, 1024]) })).toThrowError(
      expect.objectContaining({
        name: 'KernelError',
        code: 'out-of-memory',
        message: expect.stringMatching(/^a matrix of \[1024, 1024\]: 4194304 bytes asked for/),
      }),
    )
    expect(runtime.used).toBe(used)
    grow.mockRestore()
    expect(kernels.matrix({ weight: f32([1024, 1024]) })).toMatchObject({ outputs: 1024 })
  })

  it('grows by what is needed where more cannot be had', () => {
    const { grow } = WebAssembly.Memory.prototype
    const steps: number[] = []
    vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(function (
      this: WebAssembly.Memory,
      pages,
    ) {
      steps.push(pages)
      if (steps.length === 1) throw new RangeError('not that much')
      return grow.call(this, pages)
    })
    // 16 pages to begin with, a quarter more is wished for, one is enough; then a quarter of 17.
    runtime.allocate(16 * 65536, 'a mebibyte')
    expect(steps).toEqual([4, 1])
    runtime.allocate(65536, 'a page')
    expect(steps).toEqual([4, 1, 5])
    vi.restoreAllMocks()
  })

  it('a continued cache takes memory for its own positions only, and the shared ones go with the last user', () => {
    const options = { heads: 4, headDim: 64, maxPeriod: 10000 }
    const bytes = (positions: number) => positions * 4 * 64 * 2 * 4
    const empty = runtime.used
    const base = kernels.kvCache({ ...options, capacity: 200 })
    const past = new Float32Array(200 * 4 * 64)
    base.load(past, past, 200)
    const shared = runtime.used - empty
    expect(shared).toBe(bytes(200))
    const users = [base.continued!(240), base.continued!(240)]
    expect(runtime.used - empty).toBe(shared + 2 * bytes(40))
    base.dispose()
    base.dispose()
    users[0]!.dispose()
    users[0]!.dispose()
    expect(runtime.used - empty).toBe(shared + bytes(40))
    users[1]!.dispose()
    expect(runtime.used).toBe(empty)
  })

  it('refuses more than 32 bits can address', () => {
    expect(() =>
      kernels.kvCache({ heads: 16, headDim: 64, capacity: 1_000_000, maxPeriod: 10000 }),
    ).toThrowError(
      expect.objectContaining({
        code: 'out-of-memory',
        message: expect.stringContaining('8192000000 bytes'),
      }),
    )
  })

  it('holds one panel of rows besides the weights while it packs', () => {
    const spy = vi.spyOn(runtime, 'allocate')
    kernels.matrix({ weight: f32([160, 300]) })
    const asked = spy.mock.calls.map(([bytes]) => bytes)
    expect(asked.sort((a, b) => a - b)).toEqual([8 * 300 * 4, 160 * 300 * 4])
    expect(runtime.used).toBe(160 * 300 * 4)
  })

  it('holds one panel of rows besides the integers while it quantises', () => {
    const used = runtime.used
    const rows = vi.spyOn(runtime, 'allocate')
    kernels.matrix({ weight: f32([160, 300]), precision: 'int8' })
    const panels = 160 * 300
    const scales = 160 * 4
    expect(Math.max(...rows.mock.calls.map(([bytes]) => bytes))).toBe(panels)
    expect(runtime.used - used).toBe(panels + scales)
  })

  it('gets back what states and plans took, and nothing twice', () => {
    const convolution = kernels.convolution({ weight: f32([5, 3, 7]) })
    const used = runtime.used
    const state = kernels.convolutionState(convolution)
    const cache = kernels.kvCache({ heads: 2, headDim: 4, capacity: 20, maxPeriod: 100 })
    const plan = kernels.plan(
      record('some', (ops) => {
        ops.tap('y', ops.convolution(ops.input('x', 4, 3), convolution, state))
        ops.tap('z', ops.attention(ops.input('qkv', 2, 24), cache))
      }),
    )
    for (const owner of [plan, state, cache, plan, state, cache]) owner.dispose()
    expect(runtime.used).toBe(used)
  })

  it('is not touched by a run', () => {
    const matrix = kernels.matrix({ weight: f32([40, 30]) })
    const cache = kernels.kvCache({ heads: 2, headDim: 4, capacity: 64, maxPeriod: 100 })
    const plan = kernels.plan(
      record('step', (ops) => {
        ops.tap('y', ops.linear(ops.input('x', 3, 30), matrix))
        ops.tap('z', ops.attention(ops.input('qkv', 2, 24), cache))
      }),
    )
    const spies = [vi.spyOn(runtime, 'allocate'), vi.spyOn(runtime, 'free')]
    const view = runtime.floats
    for (let i = 0; i < 20; i++) plan.run()
    for (const spy of spies) expect(spy).not.toHaveBeenCalled()
    expect(runtime.floats).toBe(view)
  })
})
