import { afterEach, describe, expect, it, vi } from 'vitest'
import { threads as platform } from '../../src/threads/node.ts'
import { createWasmKernels } from '../../src/wasm/index.ts'
import { probeSimd } from '../../src/wasm/probe.ts'
import { piecesOf, unitRowsOf } from '../../src/wasm/program.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const refuseSharedMemory = () => {
  const { Memory } = WebAssembly
  class NeverShared extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      if (descriptor.shared) throw new RangeError('could not allocate memory')
      super(descriptor)
    }
  }
  return vi.spyOn(WebAssembly, 'Memory').mockImplementation(NeverShared)
}

const unavailable = { name: 'KernelError', code: 'unavailable' }

describe.skipIf(probeSimd() === 'scalar')('where memory cannot be shared', () => {
  it.each([
    ['there is no such memory', () => vi.stubGlobal('SharedArrayBuffer', undefined), 'SharedArrayBuffer'],
    [
      'the page is not isolated',
      () => vi.spyOn(platform, 'obstacle').mockReturnValue('the page is not isolated'),
      'not isolated',
    ],
    [
      'threads cannot start',
      () =>
        vi.spyOn(platform, 'startThread').mockImplementation((_, { onLost }) => {
          onLost(new Error('refused'))
          return { terminate() {} }
        }),
      'could not start',
    ],
    [
      'starting one throws',
      () =>
        vi.spyOn(platform, 'startThread').mockImplementation(() => {
          throw new Error('refused')
        }),
      'could not start',
    ],
    [
      'an engine refuses shared memory of any size',
      () => refuseSharedMemory(),
      'shared memory cannot be had',
    ],
  ])('because %s, one thread is the default and more by name an error', async (_, prevent, why) => {
    prevent()
    const kernels = await createWasmKernels('simd')
    expect(kernels.threads).toBe(1)
    kernels.dispose()
    await expect(createWasmKernels('simd', 2)).rejects.toMatchObject(unavailable)
    await expect(createWasmKernels('simd', 2)).rejects.toThrow(why)
  })
})

describe.skipIf(probeSimd() === 'scalar')('a shared memory that may not grow far', () => {
  it('is used as far as it goes', async () => {
    const { Memory } = WebAssembly
    class Small extends Memory {
      constructor(descriptor: WebAssembly.MemoryDescriptor) {
        if ((descriptor.maximum ?? 0) > 8192) throw new RangeError('could not allocate memory')
        super(descriptor)
      }
    }
    vi.spyOn(WebAssembly, 'Memory').mockImplementation(Small)
    const kernels = await createWasmKernels('simd', 2)
    expect(() =>
      kernels.kvCache({ heads: 16, headDim: 64, capacity: 100_000, maxPeriod: 10000 }),
    ).toThrowError(expect.objectContaining({ code: 'out-of-memory' }))
    kernels.dispose()
  })
})

it.skipIf(probeSimd() !== 'relaxed')(
  'memory that could not be had is asked for again the next time',
  async () => {
    // Of a level that no other test here has: what is tested once is kept.
    const refusing = refuseSharedMemory()
    await expect(createWasmKernels('relaxed', 2)).rejects.toMatchObject(unavailable)
    refusing.mockRestore()
    const kernels = await createWasmKernels('relaxed', 2)
    expect(kernels.threads).toBe(2)
    kernels.dispose()
  },
)

describe('work is cut', () => {
  it('into no more pieces than there are units, and into none that are not worth it', () => {
    expect(piecesOf(100, 1e9, 1)).toBe(1)
    expect(piecesOf(5, 1e9, 2)).toBe(5)
    expect(piecesOf(100, 1e5, 2)).toBe(3)
    expect(piecesOf(100, 1e6, 2)).toBe(8)
    expect(piecesOf(100, 1e7, 2)).toBe(20)
    expect(piecesOf(100, 10, 2)).toBe(1)
    expect(piecesOf(0, 0, 2)).toBe(1)
    expect(piecesOf(1e6, 1e12, 2)).toBe(65535)
  })

  it('along the rows where there are few parts or large ones, in whole tiles', () => {
    expect(unitRowsOf(1920, 2, 1e9, 1)).toBe(1920)
    expect(unitRowsOf(1920, 64, 1e6, 2)).toBe(1920)
    expect(unitRowsOf(1920, 2, 1e6, 2)).toBe(480)
    expect(unitRowsOf(70, 1, 1e6, 2)).toBe(36)
    expect(unitRowsOf(1, 1, 1e6, 2)).toBe(1)
    expect(unitRowsOf(512, 64, 512 * 1024 * 1024, 2)).toBe(36)
  })
})
