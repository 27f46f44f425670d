import type { FlowLm, KvSnapshot } from '@pocket/flowlm'

/** The KV cache after a prompt of rows `[count, dModel]`, from an empty one. */
export const hear = async (flowLm: FlowLm, rows: Float32Array, count: number): Promise<KvSnapshot> => {
  const state = flowLm.createState({ capacity: count })
  try {
    await flowLm.promptRows(rows, count, state)
    return await state.snapshot()
  } finally {
    state.dispose()
  }
}
