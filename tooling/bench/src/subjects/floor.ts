import { type CodecArithmetic, fullWork, type KeptAs } from '../full-work.ts'
import type { Stage, Subject, Work } from '../subject.ts'
import { createYardstick } from '../yardstick.ts'

export interface FloorSettings {
  readonly level: 'simd' | 'relaxed'
  readonly kept: KeptAs
  readonly codec: CodecArithmetic
}

/**
 * What no program with 128-bit vectors can beat on this machine: the bytes of each stage are read, or its arithmetic is
 * done, and nothing else. Bytes count where one row meets every weight, arithmetic where many do.
 */
export const open = async ({ level, kept, codec }: FloorSettings): Promise<Subject> => {
  const { bytes, operations } = fullWork(kept, codec)
  const { read, compute, computeIntegers } = await createYardstick(level, Math.max(...Object.values(bytes)))
  const work = (run: () => void): Work => ({ run: async () => run(), dispose() {} })
  const stages: Partial<Record<Stage, Work>> = {
    prompt: work(() => compute(operations.prompt)),
    step: work(() => read(bytes.step)),
    flow: work(() => read(bytes.flow)),
    decode: work(() => {
      compute(operations.decode - operations.decodeIntegers)
      computeIntegers(operations.decodeIntegers)
    }),
  }
  return { prepare: async (stage) => stages[stage], wasmBytes: () => undefined }
}
