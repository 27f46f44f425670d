import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

// The kernels' sources import their WebAssembly as `?inline`, which test runners and bundlers know and Node does not.
registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.wasm?inline')) return nextLoad(url, context)
    const bytes = readFileSync(new URL(url)).toString('base64')
    const source = `export default 'data:application/wasm;base64,${bytes}'`
    return { format: 'module', source, shortCircuit: true }
  },
})
