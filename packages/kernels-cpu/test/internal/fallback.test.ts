import { KernelError } from '@pocket/nn'
import { beforeEach, expect, it, vi } from 'vitest'
import { createCpuKernels } from '../../src/create.ts'
import type { WasmLevel } from '../../src/wasm/module.ts'

const { createWasmKernels } = vi.hoisted(() => ({ createWasmKernels: vi.fn() }))
vi.mock('../../src/wasm/index.ts', () => ({ createWasmKernels }))
vi.mock('../../src/wasm/probe.ts', () => ({ probeSimd: () => 'relaxed' }))

/** Which levels compute wrong numbers on this imaginary machine. */
let broken: readonly WasmLevel[] = []

beforeEach(() => {
  createWasmKernels.mockImplementation(async (level: WasmLevel) => {
    if (broken.includes(level)) throw new KernelError('self-test', `${level} computes wrongly`)
    return { name: `wasm-${level}` }
  })
})

it.each([
  [[], 'relaxed'],
  [['relaxed'], 'simd'],
  [['relaxed', 'simd'], 'scalar'],
] as const)('auto passes over what fails its self-test: %j leaves %s', async (levels, expected) => {
  broken = levels
  expect(await createCpuKernels()).toMatchObject({ simd: expected })
})

it('a level by name is that level or an error', async () => {
  broken = ['relaxed']
  await expect(createCpuKernels({ simd: 'relaxed' })).rejects.toMatchObject({ code: 'self-test' })
  expect(await createCpuKernels({ simd: 'simd' })).toMatchObject({ simd: 'simd', name: 'wasm-simd' })
})

it('any other error is not hidden', async () => {
  createWasmKernels.mockRejectedValue(new KernelError('out-of-memory', 'no memory at all'))
  await expect(createCpuKernels()).rejects.toMatchObject({ code: 'out-of-memory' })
})
