import { library } from '@tooling/config/tsup'

// `#platform` stays an import of the built files, for Node and bundlers to resolve by the package's own map.
export default library({
  entry: ['src/index.ts', 'src/platform/node.ts', 'src/platform/browser.ts'],
  external: ['#platform', /^node:/],
})
