import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversionCodes } from '../../src/wasm/descriptors.ts'
import { kernelModule } from '../../src/wasm/module.ts'
import { panelWidth } from '../../src/wasm/pack.ts'
import { probeSimd } from '../../src/wasm/probe.ts'
import { Runtime } from '../../src/wasm/runtime.ts'

/** Bfloat16 outputs in the order of their lanes: words hold outputs that are four apart. */
const lanes = [0, 4, 1, 5, 2, 6, 3, 7]

describe.skipIf(probeSimd() === 'scalar')('a panel', () => {
  it.each([
    ['BF16', 2],
    ['F32', 4],
  ] as const)(
    'of %s holds every bit at its place, missing rows are 0, and nothing else is written',
    async (dtype, size) => {
      const runtime = await Runtime.create(await kernelModule('simd'))
      const sizes = fc.tuple(fc.integer({ min: 1, max: panelWidth }), fc.integer({ min: 1, max: 41 }))
      const full = fc.tuple(fc.constant(panelWidth), fc.integer({ min: 1, max: 41 }))
      fc.assert(
        fc.property(fc.oneof(sizes, full), fc.nat(), ([count, inputs], seed) => {
          const rows = runtime.allocate(panelWidth * inputs * size, 'rows')
          const panel = runtime.allocate(panelWidth * inputs * size + 64, 'a panel')
          const view = (address: number, length: number) =>
            size === 2
              ? new Uint16Array(runtime.floats.buffer, address, length)
              : new Uint32Array(runtime.floats.buffer, address, length)
          const from = view(rows, panelWidth * inputs).map((_, i) => Math.imul(i + 1, 0x9e3779b1) ^ seed)
          view(rows, panelWidth * inputs).set(from)
          const to = view(panel, panelWidth * inputs + 8)
          to.fill(0xabcd)
          runtime.kernels.packPanel(rows, count, inputs, panel, conversionCodes[dtype][dtype])

          const expected = new Array<number>(to.length).fill(0xabcd)
          for (let input = 0; input < inputs; input++) {
            for (let place = 0; place < panelWidth; place++) {
              const output = size === 2 ? lanes[place]! : place
              const value = output < count ? from[output * inputs + input]! : 0
              expected[input * panelWidth + place] = value
            }
          }
          expect([...to]).toEqual(expected)
          runtime.free(rows)
          runtime.free(panel)
        }),
      )
    },
  )
})
