import { expect, it } from 'vitest'
import type { Contender } from '../src/contender.ts'
import { floorContenders } from '../src/contenders.ts'
import { fullWork } from '../src/full-work.ts'
import type { Measurement } from '../src/measure.ts'
import { formatSpeedTable } from '../src/speed-table.ts'

const contender: Contender = {
  model: 'full size',
  engine: 'simd',
  subject: { module: 'pocket', settings: {} },
  kept: 'bf16',
  floor: { level: 'simd', kept: 'bf16', codec: 'f32' },
}

/** Takes `factor` times as long as reading 10 GB/s and computing 20 GF/s. */
const measured = (of: Contender, factor: number): Measurement => {
  const { bytes, operations } = fullWork('bf16', 'f32')
  const samples = (milliseconds: number) => [{ wall: milliseconds * factor, cpu: Number.NaN }]
  return {
    contender: of,
    load: { wall: 1, cpu: 1 },
    stages: {
      prompt: samples(operations.prompt / 20e6),
      step: samples(bytes.step / 10e6),
      flow: samples(bytes.flow / 10e6),
      decode: samples(operations.decode / 20e6),
      encode: [],
    },
    spoken: [],
    memory: undefined,
  }
}

it('holds speeds against those of the floor', () => {
  const [floor] = floorContenders('full size', [contender, contender])
  const table = formatSpeedTable([measured(contender, 2), measured(floor!, 1)], 'wall')
  const rows = table!.split('\n').slice(2)
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()))
  expect(cells[0]!.slice(1, 9)).toEqual([
    'full size',
    'simd',
    '5.00',
    '50.0 %',
    '10.0',
    '50.0 %',
    '10.0',
    '50.0 %',
  ])
  expect(cells[0]!.at(-2)).toBe('2.00')
  expect(cells[1]!.slice(1, 5)).toEqual(['full size', 'floor: simd, bf16', '10.0', '–'])
  expect(rows).toHaveLength(2)
})

it('leaves out what it does not know the work of', () => {
  const { kept: _, ...unknown } = contender
  expect(formatSpeedTable([measured(unknown, 1)], 'wall')).toBeUndefined()
})
