import process from 'node:process'
import { defineConfig, type Plugin, type ViteUserConfig } from 'vitest/config'

// Tests import their own package by its name: its sources, or with TEST_BUILT=1 what is published.
const built = Boolean(process.env.TEST_BUILT)
const conditions = built ? [] : ['@pocket/source']

/** Keeps a run on built packages honest: no test of it may reach a source behind the package's back. */
const refuseSources: Plugin = {
  name: 'refuse-sources',
  load(id) {
    if (/\/packages\/[^/]+\/src\//.test(id)) {
      this.error(
        `${id} is a source: a test of internals belongs into test/internal, any other imports by name`,
      )
    }
  },
}

/** The test runner of every package. A report for machines is written beside the human one. */
export const suite = (test: ViteUserConfig['test'] = {}): ViteUserConfig =>
  defineConfig({
    assetsInclude: ['**/*.wasm'],
    plugins: built ? [refuseSources] : [],
    resolve: { conditions: [...conditions, 'import', 'module', 'default'] },
    ssr: { resolve: { conditions: [...conditions, 'node', 'import', 'module', 'default'] } },
    test: {
      include: ['test/**/*.test.ts'],
      exclude: built ? ['test/internal/**'] : [],
      reporters: ['default', 'json'],
      outputFile: { json: built ? 'test-report.built.json' : 'test-report.json' },
      testTimeout: 60_000,
      hookTimeout: 60_000,
      ...test,
    },
  })
