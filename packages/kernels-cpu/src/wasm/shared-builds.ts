/// <reference path="./wasm-inline.d.ts" />
/** The builds for memory that threads share. */
export { default as relaxed } from '../../build/relaxed-shared.wasm?inline'
export { default as simd } from '../../build/simd-shared.wasm?inline'
