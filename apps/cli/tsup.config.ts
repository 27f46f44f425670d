import { program } from '@tooling/config/tsup'

export default program({ dts: false })
