import process from 'node:process'
import { fileURLToPath } from 'node:url'
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

/** The build of a program, `src/main.ts`, with what `bin` names beside it: `dist/launch.cjs`. */
export const program = (options: Options = {}): ReturnType<typeof defineConfig> =>
  library({
    entry: ['src/main.ts'],
    platform: 'node',
    splitting: true,
    publicDir: fileURLToPath(new URL('./launcher', import.meta.url)),
    ...options,
  })
