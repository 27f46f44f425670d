import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Builds into `folder` a page that has the library and nothing else, as `globalThis.pocket`. */
export const buildEnginePage = (folder: string) =>
  build({
    configFile: false,
    root: fileURLToPath(new URL('../engine-page', import.meta.url)),
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir: folder, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  })
