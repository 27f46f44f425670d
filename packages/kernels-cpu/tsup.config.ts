import { library } from '@tooling/config/tsup'

export default library({
  // `#threads` stays an import of the built files, for Node and bundlers to resolve by the package's own map.
  entry: [
    'src/index.ts',
    'src/threads/node.ts',
    'src/threads/browser.ts',
    'src/threads/serve-job.ts',
    'src/threads/kernel-thread.ts',
  ],
  external: ['#threads'],
})
