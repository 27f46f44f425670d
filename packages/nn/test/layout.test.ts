import { layOut, operands, type Recording, record, type Tensor } from '@pocket/nn'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { matrix } from './fake-weights.ts'

/** A random graph: each operation reads one or two earlier tensors of equal rows; some are tapped. */
const recordings = fc
  .array(
    fc.record({
      reads: fc.nat(),
      adds: fc.nat(),
      columns: fc.integer({ min: 1, max: 40 }),
      tapped: fc.boolean(),
    }),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  .map(
    (steps): Recording =>
      record('random', (ops) => {
        const made = [ops.input('x', 3, 8)]
        for (const [index, { reads, adds, columns, tapped }] of steps.entries()) {
          const x = made[reads % made.length]!
          const residual = made.filter((tensor) => tensor.columns === columns)[adds % made.length]
          const y = ops.linear(x, matrix(columns, x.columns), residual && { residual })
          made.push(tapped ? ops.tap(`tap ${index}`, y) : y)
        }
      }),
  )

const range = (layout: ReturnType<typeof layOut>, tensor: Tensor): [number, number] => {
  const { offset } = layout.place(tensor.base)
  return [offset, offset + tensor.base.rows * tensor.base.columns]
}

it('gives no tensor the place of another that is still needed', () => {
  fc.assert(
    fc.property(recordings, fc.integer({ min: 1, max: 50 }), (recording, scratchLength) => {
      const layout = layOut(recording, () => scratchLength)
      const kept = [...recording.inputs.values(), ...recording.taps.values()]
      recording.operations.forEach((operation, index) => {
        const later = recording.operations.slice(index + 1).flatMap(operands)
        const made = new Set(recording.operations.slice(0, index).map(({ out }) => out))
        const needed = new Set([
          ...kept,
          ...operands(operation).map(({ base }) => base),
          ...later.map(({ base }) => base).filter((base) => made.has(base)),
        ])
        needed.delete(operation.out)
        const scratch = layout.scratch(operation)
        for (const [begin, end] of [
          range(layout, operation.out),
          [scratch, scratch + scratchLength],
        ] as const) {
          expect(end).toBeLessThanOrEqual(layout.length)
          for (const other of needed) {
            const [otherBegin, otherEnd] = range(layout, other)
            expect(begin >= otherEnd || end <= otherBegin).toBe(true)
          }
        }
      })
    }),
  )
})

it('reuses memory along a chain', () => {
  const chain = record('chain', (ops) => {
    let x = ops.input('x', 1, 64)
    for (let layer = 0; layer < 100; layer++) x = ops.linear(x, matrix(64, 64))
    ops.tap('y', x)
  })
  // The input, the tap and two tensors that take turns.
  expect(layOut(chain).length).toBe(4 * 64)
})

it('places views inside their base, with its row stride', () => {
  let view: Tensor | undefined
  const recording = record('views', (ops) => {
    const x = ops.input('x', 6, 8)
    view = ops.columns(ops.rows(x, 2, 3), 4, 2)
    ops.layerNorm(view, { eps: 1e-5 })
  })
  expect(layOut(recording).place(view!)).toEqual({ offset: 2 * 8 + 4, rowStride: 8 })
})
