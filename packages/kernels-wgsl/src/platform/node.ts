import { KernelError } from '@pocket/nn'
import type { FindGpu } from './find-gpu.ts'

export type { FindGpu }

/** Kept: a `GPU` that Node collects takes its devices along. */
let dawn: GPU | undefined

/** Node, through the optional package; Deno has WebGPU itself. */
export const findGpu: FindGpu = async () => {
  const own = globalThis.navigator?.gpu
  if (own) return own
  dawn ??= await loadDawn()
  return dawn
}

/** A name that no bundler follows: the package is there or it is not. */
const optionalPackage = 'webgpu'

const loadDawn = async (): Promise<GPU> => {
  try {
    const { create } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ optionalPackage)) as {
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
