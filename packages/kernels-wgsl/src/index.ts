/// <reference types="@webgpu/types" />
export type { Tuning } from './capabilities.ts'
export { createGpuKernels, type GpuKernelsOptions } from './create.ts'
export type { GpuKernels, PlanOptions } from './kernels.ts'
export type { GpuPlan } from './plan.ts'
export type { GpuConvolutionState, GpuKvCache, KvCacheLane } from './states.ts'
export type { GpuStream, GpuStreamOptions, SubmitOptions } from './stream.ts'
export type { DispatchTime } from './timing.ts'
