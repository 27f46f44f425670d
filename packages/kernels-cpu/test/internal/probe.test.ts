import { afterEach, describe, expect, it, vi } from 'vitest'
import { createWasmKernels } from '../../src/wasm/index.ts'
import { WasmKernels } from '../../src/wasm/kernels.ts'
import { kernelBytes } from '../../src/wasm/module.ts'
import { probeSimd } from '../../src/wasm/probe.ts'
import { Runtime } from '../../src/wasm/runtime.ts'
import { selfTest } from '../../src/wasm/self-test.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

/** An engine that refuses modules with any of these instructions, by their bytes. */
const engineWithout = (...instructions: number[][]) => {
  const { validate } = WebAssembly
  vi.spyOn(WebAssembly, 'validate').mockImplementation((source) => {
    const module = Array.from(source as Uint8Array<ArrayBuffer>).join(' ')
    return instructions.every((bytes) => !module.includes(bytes.join(' '))) && validate(source)
  })
}
const relaxedMadd = [0xfd, 0x85, 0x02]
const pmin = [0xfd, 0xea, 0x01]

describe('the feature probe', () => {
  it('finds what Node has: relaxed SIMD since version 21', () => {
    expect(probeSimd()).toBe('relaxed')
  })

  it('falls back to SIMD, and to nothing', () => {
    engineWithout(relaxedMadd)
    expect(probeSimd()).toBe('simd')
    engineWithout(relaxedMadd, pmin)
    expect(probeSimd()).toBe('scalar')
    vi.stubGlobal('WebAssembly', undefined)
    expect(probeSimd()).toBe('scalar')
  })

  it.each(['relaxed', 'simd'] as const)(
    'refuses %s by name where the engine has no such level',
    async (level) => {
      engineWithout(relaxedMadd, pmin)
      await expect(createWasmKernels(level)).rejects.toMatchObject({
        name: 'KernelError',
        code: 'unavailable',
      })
      await expect(createWasmKernels(level)).rejects.toThrow(`simd: '${level}' asked for`)
    },
  )
})

describe.skipIf(probeSimd() === 'scalar')('the self-test', () => {
  /** The kernels with each occurrence of one instruction replaced, as a miscompiling engine would. */
  const testWith = async (instruction: number[], wrong: number[]) => {
    const bytes = await kernelBytes('simd')
    let replaced = 0
    for (let i = 0; i < bytes.length; i++) {
      if (instruction.every((byte, j) => bytes[i + j] === byte)) {
        bytes.set(wrong, i)
        replaced++
      }
    }
    expect(replaced).toBeGreaterThan(0)
    await selfTest(new WasmKernels('mutant', await Runtime.create(await WebAssembly.compile(bytes))))
  }

  it('passes what computes right', async () => {
    await expect(testWith([0xfd, 0xe4, 0x01], [0xfd, 0xe4, 0x01])).resolves.toBeUndefined()
  })

  it.each([
    ['f32x4.add subtracts', [0xfd, 0xe4, 0x01], [0xfd, 0xe5, 0x01]],
    ['f32x4.mul divides', [0xfd, 0xe6, 0x01], [0xfd, 0xe7, 0x01]],
    ['i32x4.shl shifts to the right', [0xfd, 0xab, 0x01], [0xfd, 0xad, 0x01]],
    ['i32x4.dot_i16x8_s multiplies other lanes', [0xfd, 0xba, 0x01], [0xfd, 0xb5, 0x01]],
    ['v128.load8x8_s loses the sign', [0xfd, 0x01], [0xfd, 0x02]],
    ['f32x4.sqrt is missing: f32.sqrt negates', [0x91], [0x8c]],
  ])('fails where %s', async (_, instruction, wrong) => {
    await expect(testWith(instruction, wrong)).rejects.toMatchObject({
      name: 'KernelError',
      code: 'self-test',
    })
  })
})
