import { program } from '@tooling/config/tsup'

export default program({ entry: ['src/index.ts', 'src/main.ts'] })
