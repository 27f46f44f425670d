import type { FlowLm, KvSnapshot } from '@pocket/flowlm'
import { nextTurn } from '@pocket/nn'

/** Rows between two looks at the signal: some tenths of a second at full size, and enough to read each weight seldom. */
const rowsAtATime = 64

/** The KV cache after a prompt of rows `[count, dModel]`, from an empty one. Rejects with the signal's reason. */
export const hear = async (
  flowLm: FlowLm,
  rows: Float32Array,
  count: number,
  signal?: AbortSignal,
): Promise<KvSnapshot> => {
  const { dModel } = flowLm.config
  const state = flowLm.createState({ capacity: count })
  try {
    for (let row = 0; row < count; row += rowsAtATime) {
      const end = Math.min(row + rowsAtATime, count)
      await flowLm.promptRows(rows.subarray(row * dModel, end * dModel), end - row, state)
      // An abort that came meanwhile is noticed now.
      await nextTurn()
      signal?.throwIfAborted()
    }
    return await state.snapshot()
  } finally {
    state.dispose()
  }
}
