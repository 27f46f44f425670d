import { bindingAlignment } from './constants.ts'
import type { Gpu } from './gpu.ts'
import { copyGroups, copyRows, copyWords, type RowCopy } from './kernels/copy-rows.ts'
import type { Pipeline } from './pipelines.ts'

export interface BufferCopy extends RowCopy {
  readonly from: GPUBuffer
  readonly to: GPUBuffer
}

/**
 * Copies rows between buffers on the device, in the order of the calls. Not `copyBufferToBuffer`: keys of a cache are
 * hundreds of rows, each a command of its own.
 */
export const copyOnDevice = (gpu: Gpu, copies: readonly BufferCopy[]): void => {
  let compiled = gpu.pipelines.peek(copyRows)
  const compile = async (): Promise<void> => {
    compiled = await gpu.pipelines.get(copyRows)
  }
  const ready = compiled ? undefined : compile()
  const some = copies.filter(({ length }) => length > 0)
  // Compiled even for nothing: the next copy need not wait.
  const done = gpu.timeline.enqueue(ready, () => {
    if (compiled && some.length > 0) submit(gpu, compiled, some)
  })
  // Whoever uses what was not copied is told why by the device that is gone.
  done.catch(() => {})
}

const submit = (gpu: Gpu, pipeline: Pipeline, copies: readonly BufferCopy[]): void => {
  const label = copyRows.name
  const words = new Uint32Array((copies.length * bindingAlignment) / 4)
  copies.forEach((copy, index) => {
    words.set(copyWords(copy), (index * bindingAlignment) / 4)
  })
  const control = gpu.store(label, words)
  try {
    encodeCopies(gpu, pipeline, copies, control)
  } finally {
    gpu.free(control)
  }
}

const encodeCopies = (
  { device }: Gpu,
  { pipeline, layout }: Pipeline,
  copies: readonly BufferCopy[],
  control: GPUBuffer,
): void => {
  const label = copyRows.name
  const encoder = device.createCommandEncoder({ label })
  const pass = encoder.beginComputePass({ label })
  pass.setPipeline(pipeline)
  copies.forEach((copy, index) => {
    const group = device.createBindGroup({
      label,
      layout,
      entries: [
        { binding: 0, resource: { buffer: control, size: bindingAlignment } },
        { binding: 1, resource: { buffer: copy.from } },
        { binding: 2, resource: { buffer: copy.to } },
      ],
    })
    pass.setBindGroup(0, group, [index * bindingAlignment])
    pass.dispatchWorkgroups(...copyGroups(copy))
  })
  pass.end()
  device.queue.submit([encoder.finish()])
}
