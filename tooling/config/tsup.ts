import process from 'node:process'
import { defineConfig, type Options } from 'tsup'

/**
 * The build of every package: ESM for Node 22+ and current browsers, with declarations and source maps.
 * `.wasm` files become data URLs and `.wgsl` files strings, so that no package asks its user for a path.
 */
export const library = (options: Options = {}): ReturnType<typeof defineConfig> =>
  defineConfig({
    entry: ['src/index.ts'],
    format: ['esm'],
    target: 'es2023',
    platform: 'neutral',
    // Declarations take most of a build's time, and running needs none.
    dts: !process.env.SKIP_DECLARATIONS,
    sourcemap: true,
    clean: true,
    loader: { '.wasm': 'dataurl', '.wgsl': 'text' },
    // Deno and edge runtimes know Node's modules by this prefix only.
    removeNodeProtocol: false,
    ...options,
    external: [/^node:/, ...(options.external ?? [])],
  })
