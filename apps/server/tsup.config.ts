import { library } from '@tooling/config/tsup'

export default library({ entry: ['src/index.ts', 'src/main.ts'], platform: 'node', splitting: true })
