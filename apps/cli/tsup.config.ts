import { library } from '@tooling/config/tsup'

export default library({ entry: ['src/main.ts'], platform: 'node', dts: false, splitting: true })
