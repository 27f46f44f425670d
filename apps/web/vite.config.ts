import { defineConfig } from 'vite'
import { precache } from './precache-plugin.ts'

/** With these a page may share memory between threads. It speaks without them too. */
const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
}

export default defineConfig({
  // The folder may be served from anywhere, at the root of a host or below.
  base: './',
  plugins: [precache()],
  worker: { format: 'es' },
  // Pre-bundling would move the modules away from the files they name.
  optimizeDeps: { exclude: ['@pocket/mini', '@pocket/tts'] },
  server: { host: '127.0.0.1', headers: isolation },
  preview: { host: '127.0.0.1', headers: isolation },
  build: {
    target: 'es2023',
    // A file inlined as a data URL is one that the content-security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: 'index.html', 'service-worker': 'src/service-worker/service-worker.ts' },
      output: {
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
})
