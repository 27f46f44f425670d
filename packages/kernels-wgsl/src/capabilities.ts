/** What kernels may use beyond the core of WebGPU; without any of it they still work. */
export interface Capabilities {
  /** The sizes that subgroups may have here; undefined: sums go through workgroup memory. */
  readonly subgroups: { readonly least: number; readonly most: number } | undefined
  /** Whether passes can be timed. */
  readonly timestamps: boolean
  readonly tuning: Tuning
}

/** How work is cut for a device. It changes speed and, by rounding, last digits. */
export interface Tuning {
  /** Threads that keep the device busy: sums are shared out among as many. */
  readonly threads: number
  /** Vectors of weights that a thread loads at once, at most. */
  readonly unroll: number
}

/**
 * The best of eight cuts on an NVIDIA H200, for one lane and for eight; from 2¹⁵ to 2¹⁸ threads the sum of all kernels
 * differs by a tenth. Smaller GPUs lose little by a few threads more than they can run.
 */
const hardware: Tuning = { threads: 1 << 16, unroll: 2 }

/** A processor that stands for a GPU: threads are loops, and long kernels take long to compile. */
const software: Tuning = { threads: 64, unroll: 1 }

/** Optional features that are asked for where an adapter has them. */
export const wantedFeatures = ['subgroups', 'timestamp-query'] as const satisfies GPUFeatureName[]

export interface Choices {
  /** False does without subgroups where the device has them. */
  readonly subgroups: boolean
  readonly tuning: Partial<Tuning>
}

export const readCapabilities = (device: GPUDevice, choices: Choices): Capabilities => {
  const { subgroupMinSize: least = 0, subgroupMaxSize: most = 0 } = device.adapterInfo ?? {}
  const known = least > 0 && most >= least
  return {
    subgroups: choices.subgroups && known && device.features.has('subgroups') ? { least, most } : undefined,
    timestamps: device.features.has('timestamp-query'),
    tuning: { ...(isSoftware(device) ? software : hardware), ...choices.tuning },
  }
}

const isSoftware = ({ adapterInfo }: GPUDevice): boolean =>
  adapterInfo?.isFallbackAdapter === true ||
  /swiftshader|llvmpipe|basic render/i.test(`${adapterInfo?.architecture} ${adapterInfo?.description}`)
