/// <reference path="./wasm-inline.d.ts" />
/** The builds for one thread. */
export { default as relaxed } from '../../build/relaxed.wasm?inline'
export { default as simd } from '../../build/simd.wasm?inline'
