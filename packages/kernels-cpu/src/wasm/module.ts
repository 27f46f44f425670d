/// <reference path="./wasm-inline.d.ts" />
import relaxed from '../../build/relaxed.wasm?inline'
import simd from '../../build/simd.wasm?inline'
import { WasmKernels } from './kernels.ts'
import type { SimdLevel } from './probe.ts'
import { Runtime } from './runtime.ts'
import { selfTest } from './self-test.ts'

/** The builds of the kernels. */
export type WasmLevel = Exclude<SimdLevel, 'scalar'>

const dataUrls: Record<WasmLevel, string> = { relaxed, simd }
const modules = new Map<WasmLevel, Promise<WebAssembly.Module>>()

/** A build, compiled and tested once for all executors. Throws KernelError `self-test` where it computes wrong numbers. */
export const kernelModule = (level: WasmLevel): Promise<WebAssembly.Module> => {
  const known = modules.get(level)
  if (known) return known
  const module = compileTested(level)
  modules.set(level, module)
  return module
}

export const kernelName = (level: WasmLevel): string => `wasm-${level}`

/** Decoded by hand: a page's content-security policy may forbid `fetch` of data URLs. */
export const kernelBytes = (level: WasmLevel): Uint8Array<ArrayBuffer> => {
  const base64 = dataUrls[level].slice(dataUrls[level].indexOf(',') + 1)
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

const compileTested = async (level: WasmLevel): Promise<WebAssembly.Module> => {
  const module = await WebAssembly.compile(kernelBytes(level))
  await selfTest(new WasmKernels(kernelName(level), await Runtime.create(module)))
  return module
}
