import { KernelError } from '@pocket/nn'
import { findAdapter } from './adapter.ts'
import { type Capabilities, readCapabilities, type Tuning, wantedFeatures } from './capabilities.ts'
import { hasToBeNudged } from './completion.ts'
import type { GpuAdapter, GpuDevice } from './device-types.ts'
import { Gpu } from './gpu.ts'
import { DeviceKernels, type GpuKernels } from './kernels.ts'
import { passesSelfTest } from './self-test.ts'

export interface GpuKernelsOptions {
  /** A device of the caller's own, which stays theirs: `dispose` gives back what was made on it and leaves it open. */
  readonly device?: GpuDevice
  /** The adapter to ask for a device. Default: the fastest that the platform offers. */
  readonly adapter?: GpuAdapter
  /** Streams that run side by side and share each reading of a weight. Default 1. */
  readonly lanes?: number
  /** False does without subgroups where the device has them. Default true. */
  readonly subgroups?: boolean
  /** How work is cut: what is not stated is as this device has it by default. */
  readonly tuning?: Partial<Tuning>
  /**
   * A small network is run and compared with exact numbers first: an executor that fails goes on without subgroups, and
   * one that fails so, too, is refused. False takes the device at its word. Default true.
   */
  readonly selfTest?: boolean
}

/**
 * Makes an executor on a GPU: `navigator.gpu` in browsers and workers, the optional package `webgpu` in Node.
 * Throws KernelError `unavailable` with the reason where there is no GPU to be had, `self-test` where it computes wrong
 * numbers.
 */
export const createGpuKernels = async (options: GpuKernelsOptions = {}): Promise<GpuKernels> => {
  const { lanes = 1, subgroups = true, tuning = {}, selfTest = true } = options
  const adapter = options.adapter as GPUAdapter | undefined
  const device =
    (options.device as GPUDevice | undefined) ?? (await requestDevice(adapter ?? (await findAdapter())))
  const owned = options.device === undefined
  const engine = { owned, hasToBeNudged: await hasToBeNudged(device.queue) }
  let failure: unknown
  for (const capabilities of capabilitiesToTry(device, subgroups)) {
    const gpu = new Gpu(device, { capabilities, ...engine })
    try {
      gpu.retune(tuning)
      const kernels = new DeviceKernels(gpu, lanes)
      if (!selfTest || (await passesSelfTest(kernels.withLanes(1)))) return kernels
      failure = wrongNumbers(device)
    } catch (error) {
      failure = error
    }
    gpu.release()
  }
  if (owned) device.destroy()
  throw failure instanceof KernelError ? failure : noKernels(device, failure)
}

/** Subgroups may be what a device computes wrong numbers with. */
const capabilitiesToTry = (device: GPUDevice, subgroups: boolean): Capabilities[] => {
  const found = readCapabilities(device)
  const without = { ...found, subgroups: undefined }
  return subgroups && found.subgroups ? [found, without] : [without]
}

const advice = 'update the driver, or use the CPU (@pocket/kernels-cpu)'

const wrongNumbers = ({ adapterInfo }: GPUDevice): KernelError =>
  new KernelError('self-test', `the GPU ${describe(adapterInfo)} computes wrong numbers: ${advice}`)

/** Such as a compiler in a driver that takes offence at a kernel. */
const noKernels = ({ adapterInfo }: GPUDevice, cause: unknown): KernelError =>
  new KernelError('self-test', `the GPU ${describe(adapterInfo)} cannot run the kernels: ${advice}`, {
    cause,
  })

const requestDevice = async (adapter: GPUAdapter): Promise<GPUDevice> => {
  const requiredFeatures = wantedFeatures.filter((feature) => adapter.features.has(feature))
  try {
    return await adapter.requestDevice({ label: '@pocket/kernels-wgsl', requiredFeatures })
  } catch (cause) {
    throw new KernelError(
      'unavailable',
      `the GPU ${describe(adapter.info)} gave no device: ${String(cause)}`,
      {
        cause,
      },
    )
  }
}

const describe = (info: GPUAdapterInfo | undefined): string => info?.description || info?.vendor || 'found'
