import { codecPositions } from '../full-shapes.ts'
import { noise } from '../noise.ts'
import { backboneGraph, codecGraph, flowHeadGraph, type StageGraph } from '../onnx/full-graphs.ts'
import { loadRival, type OnnxRuntime, type Rival } from '../rivals.ts'
import { promptTokens } from '../sizes.ts'
import type { Stage, Subject, Work } from '../subject.ts'

export interface OnnxSettings {
  readonly rival: Rival
  /** Of the language model's products; the codec is float32. */
  readonly precision: 'f32' | 'int8'
  readonly threads: number
}

/** The products of the model of full size on onnxruntime: no attention, no norms, no streams. */
export const open = async ({ rival, precision, threads }: OnnxSettings): Promise<Subject> => {
  const runtime = loadRival(rival)
  if (rival === 'onnxruntime-web') runtime.env.wasm.numThreads = threads
  const ready = sessions(runtime, rival, threads)
  const backbone = await ready(backboneGraph(precision))
  const flowHead = await ready(flowHeadGraph(precision))
  const codec = await ready(codecGraph())
  const stages: Partial<Record<Stage, Work>> = {
    prompt: backbone(promptTokens),
    step: backbone(1),
    flow: flowHead(1),
    decode: codec(codecPositions),
  }
  return { prepare: async (stage) => stages[stage], wasmBytes: () => undefined }
}

/** Makes a session of a graph, and of that the work of running it on so many rows. */
const sessions =
  (runtime: OnnxRuntime, rival: Rival, threads: number) =>
  async ({ bytes, columns }: StageGraph): Promise<(rows: number) => Work> => {
    const session = await runtime.InferenceSession.create(bytes, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      graphOptimizationLevel: 'all',
      ...(rival === 'onnxruntime-web' ? { executionProviders: ['wasm'] } : {}),
    })
    return (rows) => {
      const x = new runtime.Tensor('float32', noise(rows * columns, 1), [rows, columns])
      return { run: () => session.run({ x }), dispose() {} }
    }
  }
