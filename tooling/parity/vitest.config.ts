import { suite } from '@tooling/config/vitest'

// Kernels are compiled and run by a processor that stands for a GPU, which takes long where others want it, too.
export default suite({ testTimeout: 300_000 })
