import { KernelError } from '@pocket/nn'

/** What kernels may use beyond the core of WebGPU; without any of it they still work. */
export interface Capabilities {
  /** The sizes that subgroups may have here; undefined: sums go through workgroup memory. */
  readonly subgroups: SubgroupSizes | undefined
  /** Whether passes can be timed. */
  readonly timestamps: boolean
  /** Whether a processor stands for a GPU. */
  readonly isSoftware: boolean
  readonly tuning: Tuning
}

export interface SubgroupSizes {
  readonly least: number
  readonly most: number
}

/**
 * How work is cut for a device. Only `threads` says in which order sums are added, and so changes last digits; with the
 * others the result is the same to the bit.
 */
export interface Tuning {
  /** Threads that keep the device busy: sums are shared out among as many. A power of two from 64 to 2²⁰. */
  readonly threads: number
  /** Vectors of weights that a thread loads at once, at most: 1 to 8. */
  readonly unroll: number
  /** Threads of a workgroup, at least: the more of them, the more rows and outputs it has. 64, 128 or 256. */
  readonly workgroup: number
  /** Whether neighbours add up through subgroups, where the device has them. */
  readonly subgroups: boolean
}

/**
 * The best of eight cuts on an NVIDIA H200, for one lane and for eight; from 2¹⁵ to 2¹⁸ threads the sum of all kernels
 * differs by a tenth. Smaller GPUs lose little by a few threads more than they can run.
 */
const hardware: Tuning = { threads: 1 << 16, unroll: 2, workgroup: 64, subgroups: true }

/** A processor that stands for a GPU: threads are loops, and long kernels take long to compile. */
const software: Tuning = { threads: 64, unroll: 1, workgroup: 64, subgroups: true }

/** Optional features that are asked for where an adapter has them. */
export const wantedFeatures = ['subgroups', 'timestamp-query'] as const satisfies GPUFeatureName[]

/** What a device has, and how work is cut for it by default. */
export const readCapabilities = (device: GPUDevice): Capabilities => {
  const { subgroupMinSize: least = 0, subgroupMaxSize: most = 0 } = device.adapterInfo ?? {}
  const known = least > 0 && most >= least
  return {
    subgroups: known && device.features.has('subgroups') ? { least, most } : undefined,
    timestamps: device.features.has('timestamp-query'),
    isSoftware: isSoftware(device),
    tuning: isSoftware(device) ? software : hardware,
  }
}

/** The cut that `change` makes of a tuning. Throws KernelError `shape` for one that no kernel can be made for. */
export const retuned = (tuning: Tuning, change: Partial<Tuning>): Tuning => {
  const { threads, unroll, workgroup, subgroups } = { ...tuning, ...change }
  const check = (name: keyof Tuning, isRight: boolean, value: unknown, expected: string): void => {
    if (!isRight) throw new KernelError('shape', `tuning: ${name} is ${String(value)}, expected ${expected}`)
  }
  check('threads', isPowerOfTwo(threads, 64, 1 << 20), threads, 'a power of two from 64 to 2²⁰')
  check(
    'unroll',
    Number.isInteger(unroll) && unroll >= 1 && unroll <= 8,
    unroll,
    'a whole number from 1 to 8',
  )
  check('workgroup', isPowerOfTwo(workgroup, 64, 256), workgroup, '64, 128 or 256')
  check('subgroups', typeof subgroups === 'boolean', subgroups, 'true or false')
  return { threads, unroll, workgroup, subgroups }
}

const isPowerOfTwo = (value: number, least: number, most: number): boolean =>
  Number.isInteger(Math.log2(value)) && value >= least && value <= most

/** SwiftShader, Mesa's llvmpipe and softpipe, Windows' WARP. */
const softwareNames = /swiftshader|llvmpipe|lavapipe|softpipe|basic render|warp/i

const isSoftware = ({ adapterInfo }: GPUDevice): boolean => {
  if (!adapterInfo) return false
  const { vendor, architecture, description, isFallbackAdapter } = adapterInfo
  return isFallbackAdapter === true || softwareNames.test(`${vendor} ${architecture} ${description}`)
}
