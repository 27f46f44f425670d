import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/** Other runtimes, for comparison. They weigh 300 MB, so nothing depends on them: they are measured where they are found. */
export const rivals = ['onnxruntime-node', 'onnxruntime-web'] as const
export type Rival = (typeof rivals)[number]

/** The version whose numbers the README shows. */
const version = '1.30.0'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = 'node_modules/.cache/rivals'

/** The install script of `onnxruntime-node` fetches what graphics cards need. */
const installCommand = `npm install --ignore-scripts --prefix ${folder} ${rivals.map((name) => `${name}@${version}`).join(' ')}`

const rivalRequire = createRequire(`${root}${folder}/package.json`)

/** As much of a rival as is used; both have the same interface. */
export interface OnnxRuntime {
  readonly env: { readonly wasm: { numThreads?: number } }
  readonly InferenceSession: {
    create(
      model: Uint8Array,
      options: {
        intraOpNumThreads: number
        interOpNumThreads: number
        executionProviders?: string[]
        graphOptimizationLevel: 'all'
      },
    ): Promise<OnnxSession>
  }
  readonly Tensor: new (type: 'float32', data: Float32Array, shape: number[]) => object
}

export interface OnnxSession {
  run(feeds: Record<string, object>): Promise<unknown>
}

/** Throws where it is not installed, and says how it would be. */
export const loadRival = (rival: Rival): OnnxRuntime => {
  if (!existsSync(`${root}${folder}/node_modules/${rival}`)) {
    throw new Error(`not installed; in the root of the repository: ${installCommand}`)
  }
  return rivalRequire(rival) as OnnxRuntime
}
