import { suite } from '@tooling/config/vitest'

export default suite({ globalSetup: ['test/global-setup.ts'] })
