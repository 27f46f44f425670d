import { KernelError } from '@pocket/nn'
import type { BoundRecording } from './bound-recording.ts'
import { usage } from './constants.ts'
import type { Gpu } from './gpu.ts'

export interface DispatchTime {
  /** The kernel and its shape. */
  readonly name: string
  readonly microseconds: number
}

/** Runs a recording once, each dispatch in a pass between two timestamps. */
export const timeDispatches = async (
  gpu: Gpu,
  bound: BoundRecording,
  control: GPUBuffer | undefined,
  prepare: () => void,
): Promise<DispatchTime[]> => {
  if (!gpu.capabilities.timestamps) {
    throw new KernelError('unavailable', 'this device has no feature timestamp-query: it cannot time passes')
  }
  const count = 2 * bound.dispatchCount
  const queries = gpu.device.createQuerySet({ label: 'times', type: 'timestamp', count })
  const results = gpu.buffer('times', 8 * count, usage.queryResolve | usage.copySource)
  try {
    prepare()
    return await timeEach(gpu, bound, control, { queries, results })
  } finally {
    queries.destroy()
    gpu.free(results)
  }
}

const timeEach = async (
  gpu: Gpu,
  bound: BoundRecording,
  control: GPUBuffer | undefined,
  { queries, results }: { readonly queries: GPUQuerySet; readonly results: GPUBuffer },
): Promise<DispatchTime[]> => {
  const { device } = gpu
  const { count } = queries
  const names: string[] = []
  const staging = gpu.staging.fill(8 * count, (staging) => {
    const encoder = device.createCommandEncoder({ label: 'profile' })
    const passFor = (index: number, name: string): GPUComputePassEncoder => {
      names.push(name)
      const timestampWrites = {
        querySet: queries,
        beginningOfPassWriteIndex: 2 * index,
        endOfPassWriteIndex: 2 * index + 1,
      }
      return encoder.beginComputePass({ label: name, timestampWrites })
    }
    bound.encodeApart(passFor, control, 0)
    encoder.resolveQuerySet(queries, 0, count, results, 0)
    encoder.copyBufferToBuffer(results, 0, staging, 0, 8 * count)
    device.queue.submit([encoder.finish()])
  })
  const times = new BigUint64Array(await gpu.staging.collect(staging, 8 * count))
  return names.map((name, index) => ({
    name,
    microseconds: Number((times[2 * index + 1] ?? 0n) - (times[2 * index] ?? 0n)) / 1000,
  }))
}
