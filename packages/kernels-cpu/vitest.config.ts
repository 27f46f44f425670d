import { suite } from '@tooling/config/vitest'

// The kernels are compiled where they are missing or older than their sources.
export default suite({ globalSetup: ['test/global-setup.ts'] })
