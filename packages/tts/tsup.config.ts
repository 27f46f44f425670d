import { readFileSync } from 'node:fs'
import { library } from '@tooling/config/tsup'

const yamlLicense = readFileSync(new URL('./node_modules/yaml/LICENSE', import.meta.url), 'utf8')

export default [
  // `#platform`, `#hub` and `#worker` stay imports of the built files, for Node and bundlers to resolve by the
  // package's own map.
  library({
    entry: [
      'src/index.ts',
      'src/node.ts',
      'src/options.ts',
      'src/platform/node.ts',
      'src/platform/browser.ts',
      'src/hub/node/index.ts',
      'src/hub/browser/index.ts',
      'src/worker/node.ts',
      'src/worker/node-entry.ts',
      'src/worker/browser.ts',
    ],
    external: ['#platform', '#hub', '#worker', /^node:/],
    clean: ['!worker/browser-entry.*', '!worker/kernel-thread.*'],
  }),
  // One file with everything in it, made from the sources of all packages: bundlers that turn workers into classic
  // scripts, as Vite does by default, need not split it, and a page without a bundler can start it as it is.
  library({
    entry: { 'browser-entry': 'src/worker/browser-entry.ts' },
    outDir: 'dist/worker',
    dts: false,
    clean: false,
    splitting: false,
    minify: true,
    noExternal: [/./],
    banner: { js: `/*! This file contains yaml, https://eemeli.org/yaml\n${yamlLicense}*/` },
    esbuildOptions(options) {
      options.conditions = ['@pocket/source', 'browser']
    },
  }),
  // The threads of the kernels in that file start from one beside it.
  library({
    entry: { 'kernel-thread': 'src/worker/kernel-thread.ts' },
    outDir: 'dist/worker',
    dts: false,
    clean: false,
    minify: true,
    noExternal: [/./],
    esbuildOptions(options) {
      options.conditions = ['@pocket/source', 'browser']
    },
  }),
]
