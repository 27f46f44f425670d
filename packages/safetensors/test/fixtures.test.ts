import { SafeTensors, type SafeTensorsErrorCode, writeSafeTensors } from '@pocket/safetensors'
import { readFixture, readGoldens, readJson } from '@tooling/fixtures'
import { describe, expect, test } from 'vitest'
import { failure, sameBytes } from './make-file.ts'

const models = ['tiny/tiny-2026-04', 'tiny/tiny-2026-01', 'tiny/tiny-24l']
const goldens = [
  ...models.map((model) => `${model}/golden.safetensors`),
  'tiny/tiny-2026-04/voices/probe.safetensors',
  'tiny/unit.safetensors',
  'full/golden-english_2026-04.safetensors',
]

describe('golden tensors', () => {
  test.each(goldens)('%s', (name) => {
    const tensors = SafeTensors.fromBytes(readFixture(name))
    const expected = readGoldens(name)
    expect(tensors.names().sort()).toEqual([...expected.keys()].sort())
    for (const [tensor, { shape, data }] of expected) {
      const array = tensors.f32(tensor)
      expect(array.shape).toEqual(shape)
      expect(sameBytes(array.data, data)).toBe(true)
    }
  })

  test('the waveform, which is I16', () => {
    const tensors = SafeTensors.fromBytes(readFixture('tiny/wave.safetensors'))
    const bytes = tensors.bytes('wave')
    const samples = new Int16Array(bytes.slice().buffer)
    const expected = readGoldens('tiny/wave.safetensors').get('wave')
    expect(expected?.data.every((value, i) => value === (samples[i] ?? 0) / 32768)).toBe(true)
    expect(samples).toHaveLength(expected?.data.length ?? 0)
  })
})

describe('checkpoints', () => {
  test.each(models)('%s: BF16 throughout', (model) => {
    const file = readFixture(`${model}/model.safetensors`)
    const tensors = SafeTensors.fromBytes(file)
    expect(tensors.names().length).toBeGreaterThan(50)
    for (const name of tensors.names()) {
      expect(tensors.info(name).dtype).toBe('BF16')
      const bytes = tensors.bytes(name)
      const widened = tensors.f32(name).data
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      for (let i = 0; i < widened.length; i += 97) {
        const wide = new DataView(new ArrayBuffer(4))
        wide.setUint32(0, view.getUint16(2 * i, true) * 65536)
        expect(widened[i]).toBe(wide.getFloat32(0))
      }
    }
  })

  test.each(models)('%s: written again, it is the same file', (model) => {
    const file = readFixture(`${model}/model.safetensors`)
    const tensors = SafeTensors.fromBytes(file)
    const copy = Object.fromEntries(
      tensors.names().map((name) => [name, { ...tensors.info(name), data: tensors.bytes(name) }]),
    )
    const metadata = Object.keys(tensors.metadata).length > 0 ? tensors.metadata : undefined
    expect(sameBytes(writeSafeTensors(copy, metadata), file)).toBe(true)
  })
})

describe('voice files', () => {
  const { cases } = readJson<{ cases: { file: string; must: string }[] }>(
    'tiny/tiny-2026-04/voices/voices.json',
  )

  /** Faults of the container. All other refusals are about what the tensors mean, which is not known here. */
  const container: Record<string, SafeTensorsErrorCode> = {
    'dtype-unknown': 'unknown-dtype',
    empty: 'truncated',
    'header-array': 'invalid-header',
    'header-length-huge': 'header-too-large',
    'header-length-past-end': 'truncated',
    'header-not-json': 'invalid-header',
    html: 'not-safetensors',
    'offsets-negative': 'invalid-offsets',
    'offsets-overlap': 'size-mismatch',
    pickle: 'not-safetensors',
    'shape-lies': 'size-mismatch',
    'shape-overflow': 'invalid-shape',
    'trailing-bytes': 'trailing-bytes',
    truncated: 'truncated',
    'truncated-header': 'truncated',
    'truncated-length': 'truncated',
  }

  test.each(cases)('$file', async ({ file }) => {
    const open = () => SafeTensors.fromBytes(readFixture(`tiny/tiny-2026-04/${file}`))
    const code = container[/refuse\/(.*)\.safetensors/.exec(file)?.[1] ?? '']
    if (code === undefined) expect(open().names().length).toBeGreaterThanOrEqual(0)
    else expect((await failure(open)).code).toBe(code)
  })

  test('every fault of the container has its case', () => {
    const files = cases.map(({ file }) => file)
    for (const name of Object.keys(container)) expect(files).toContain(`voices/refuse/${name}.safetensors`)
  })

  test.each(models)('%s: the offset is I64', (model) => {
    const tensors = SafeTensors.fromBytes(readFixture(`${model}/voices/voice-f32.safetensors`))
    const [positions] = tensors.i64('transformer.layers.0.self_attn/offset')
    expect(positions).toBe(BigInt(tensors.info('transformer.layers.0.self_attn/cache').shape[2] ?? -1))
  })
})
