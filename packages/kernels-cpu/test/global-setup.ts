import { buildKernels } from '../scripts/build-kernels.ts'

export default (): Promise<void> => buildKernels({ onlyStale: true })
