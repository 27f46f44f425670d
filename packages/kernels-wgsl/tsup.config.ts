import { library } from '@tooling/config/tsup'

export default library({
  // `#gpu` stays an import of the built files, for Node and bundlers to resolve by the package's own map.
  entry: ['src/index.ts', 'src/platform/node.ts', 'src/platform/browser.ts'],
  external: ['#gpu'],
})
