/** How a platform gives out GPUs. Throws KernelError `unavailable` where it has no WebGPU. */
export type FindGpu = () => Promise<GPU>
