import process from 'node:process'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

// Tests run on the sources of all packages; TEST_BUILT=1 runs the same tests on what is published.
const conditions = process.env.TEST_BUILT ? [] : ['@pocket/source']

/** The test runner of every package. A report for machines is written beside the human one. */
export const suite = (test: ViteUserConfig['test'] = {}): ViteUserConfig =>
  defineConfig({
    assetsInclude: ['**/*.wasm'],
    resolve: { conditions: [...conditions, 'import', 'module', 'default'] },
    ssr: { resolve: { conditions: [...conditions, 'node', 'import', 'module', 'default'] } },
    test: {
      include: ['test/**/*.test.ts'],
      reporters: ['default', 'json'],
      outputFile: { json: 'test-report.json' },
      testTimeout: 60_000,
      ...test,
    },
  })
