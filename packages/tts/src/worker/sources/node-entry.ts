import './inline-wasm.ts'

await import('../node-entry.ts')
