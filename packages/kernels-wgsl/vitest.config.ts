import { suite } from '@tooling/config/vitest'

export default suite()
