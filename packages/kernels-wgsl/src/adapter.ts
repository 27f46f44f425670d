import { KernelError } from '@pocket/nn'

/** The fastest adapter that the platform offers. Throws KernelError `unavailable`. */
export const findAdapter = async (): Promise<GPUAdapter> => {
  const gpu = await findGpu()
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' })
  if (adapter) return adapter
  throw new KernelError(
    'unavailable',
    'WebGPU is here, but no GPU that it can use: update the driver, or use the CPU (@pocket/kernels-cpu)',
  )
}

/** Kept: a `GPU` that Node collects takes its devices along. */
let nodeGpu: GPU | undefined

const findGpu = async (): Promise<GPU> => {
  const browserGpu = globalThis.navigator?.gpu
  if (browserGpu) return browserGpu
  if (!isNode()) {
    throw new KernelError(
      'unavailable',
      'this browser has no WebGPU (navigator.gpu), or the page is not served securely: use https or localhost',
    )
  }
  nodeGpu ??= await loadNodeGpu()
  return nodeGpu
}

const isNode = (): boolean => typeof process === 'object' && process.versions?.node !== undefined

/** A name that no bundler follows: pages must not need the package. */
const nodePackage = 'webgpu'

const loadNodeGpu = async (): Promise<GPU> => {
  try {
    const { create } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ nodePackage)) as {
      create(options: string[]): GPU
    }
    return create([])
  } catch (cause) {
    throw new KernelError(
      'unavailable',
      'WebGPU in Node needs the package webgpu (Dawn), version 0.6.2 or newer: npm install webgpu',
      { cause },
    )
  }
}
