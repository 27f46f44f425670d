export { type CpuKernels, type CpuKernelsOptions, createCpuKernels } from './create.ts'
export { probeSimd, type SimdLevel } from './wasm/probe.ts'
