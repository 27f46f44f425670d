import { library } from '@tooling/config/tsup'

export default library({ entry: ['src/index.ts', 'src/node.ts'] })
