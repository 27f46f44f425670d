import { readFileSync } from 'node:fs'
import { type Dtype, SafeTensors, type SafeTensorsErrorCode, writeSafeTensors } from '@pocket/safetensors'
import { describe, expect, test } from 'vitest'
import { failure, makeFile } from './make-file.ts'

/** Written by the reference library; see golden/generate.py. */
const golden = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`golden/${name}`, import.meta.url)))

interface Verdict {
  name: string
  header: string
  data: number
  reference: string
}

const verdicts = JSON.parse(new TextDecoder().decode(golden('verdicts.json'))) as Verdict[]

/** Files that the reference loads and this package refuses, since its own format text forbids them. */
const stricter: Record<string, SafeTensorsErrorCode> = {
  'leading space': 'invalid-header',
  'duplicate tensor': 'duplicate-key',
  'duplicate tensor by escape': 'duplicate-key',
  'duplicate metadata': 'duplicate-key',
  'metadata null': 'invalid-metadata',
  'unknown member': 'invalid-tensor',
  'entry as a sequence': 'invalid-tensor',
}

/** Files that both refuse: our reason. */
const refused: Record<string, SafeTensorsErrorCode> = {
  "a byte after the header's object": 'invalid-header',
  'empty header': 'invalid-header',
  array: 'invalid-header',
  null: 'invalid-header',
  truncated: 'invalid-header',
  'trailing comma': 'invalid-header',
  'unknown escape': 'invalid-header',
  'lone surrogate': 'invalid-header',
  'control character': 'invalid-header',
  'duplicate member': 'duplicate-key',
  'two metadata': 'duplicate-key',
  'metadata number': 'invalid-metadata',
  'metadata array': 'invalid-metadata',
  'no dtype': 'invalid-tensor',
  'no shape': 'invalid-tensor',
  'no offsets': 'invalid-tensor',
  'entry null': 'invalid-tensor',
  'dtype number': 'unknown-dtype',
  'dtype unknown': 'unknown-dtype',
  'dtype lower case': 'unknown-dtype',
  'shape null': 'invalid-shape',
  'shape of strings': 'invalid-shape',
  'shape negative': 'invalid-shape',
  'shape 1.0': 'invalid-shape',
  'shape 1e0': 'invalid-shape',
  'shape -0': 'invalid-shape',
  'shape 01': 'invalid-header',
  'shape 2^64': 'invalid-shape',
  'shape overflows': 'invalid-shape',
  'offsets three': 'invalid-offsets',
  'offsets one': 'invalid-offsets',
  'offsets negative': 'invalid-offsets',
  'offsets reversed': 'invalid-offsets',
  'offsets fractional': 'invalid-offsets',
  'size mismatch': 'size-mismatch',
  'hole before': 'invalid-offsets',
  'hole between': 'invalid-offsets',
  overlap: 'invalid-offsets',
  'past the end': 'truncated',
  'trailing bytes': 'trailing-bytes',
  'empty tensor inside another': 'invalid-offsets',
  'F4 odd': 'invalid-shape',
  'F6 broken bytes': 'invalid-shape',
}

describe('verdicts of the reference library', () => {
  test.each(verdicts)('$name', async ({ name, header, data, reference }) => {
    const open = () => SafeTensors.fromBytes(makeFile(header, data))
    const code = reference === 'loads' ? stricter[name] : refused[name]
    if (code === undefined) {
      expect(reference).toBe('loads')
      open()
      return
    }
    expect((await failure(open)).code).toBe(code)
  })
})

describe('files of the reference library', () => {
  test('every dtype, a scalar and an empty tensor', () => {
    const tensors = SafeTensors.fromBytes(golden('all-dtypes.safetensors'))
    expect({ ...tensors.metadata }).toEqual({ format: 'pt' })
    expect(tensors.info('scalar')).toEqual({ dtype: 'F32', shape: [], byteLength: 4 })
    expect(tensors.f32('scalar')).toEqual({ data: Float32Array.of(1.5), shape: [], stride: [], offset: 0 })
    expect(tensors.info('empty')).toEqual({ dtype: 'F32', shape: [0, 3], byteLength: 0 })
    expect(tensors.f32('empty').data).toHaveLength(0)
    const dtypes = tensors.names().filter((name) => name.startsWith('x.'))
    expect(dtypes).toHaveLength(20)
    for (const name of dtypes) {
      const { dtype, shape, byteLength } = tensors.info(name)
      expect(`x.${dtype}`).toBe(name)
      expect(shape).toEqual([2, 4])
      const first = tensors.bytes(name)[0] ?? 0
      expect([...tensors.bytes(name)]).toEqual(
        Array.from({ length: byteLength }, (_, i) => (first + i * 11) % 256),
      )
    }
  })

  test.each(['all-dtypes.safetensors', 'awkward-names.safetensors'])('%s, byte for byte', (name) => {
    const file = golden(name)
    const tensors = SafeTensors.fromBytes(file)
    // Shuffled, so that it is the writer that finds the order.
    const names = tensors.names().reverse()
    const copy = Object.fromEntries(
      names.map((tensor) => [tensor, { ...tensors.info(tensor), data: tensors.bytes(tensor) }]),
    )
    expect(writeSafeTensors(copy, tensors.metadata)).toEqual(file)
  })

  test('names that JavaScript objects trip over', () => {
    const tensors = SafeTensors.fromBytes(golden('awkward-names.safetensors'))
    expect(tensors.bytes('__proto__')).toEqual(Uint8Array.of(0))
    expect(tensors.bytes('constructor')).toEqual(Uint8Array.of(1))
    expect(tensors.bytes('')).toEqual(Uint8Array.of(2))
    expect(tensors.bytes('q"\\\n\u0001\u007f\u2028/')).toEqual(Uint8Array.of(11))
    expect(tensors.has('toString')).toBe(false)
    expect({ ...tensors.metadata }).toEqual({ 'k"\n': 'é\u2028' })
    // U+FFEE comes before U+1F600 although its UTF-16 unit is the larger one.
    expect(tensors.names().slice(-2)).toEqual(['\uffee', '\u{1f600}'])
  })

  test('the layout puts larger dtypes first, as the reference library orders them', () => {
    const order = SafeTensors.fromBytes(golden('all-dtypes.safetensors')).names()
    const dtypes: Dtype[] = ['U64', 'I64', 'F64', 'C64', 'F32', 'U32', 'I32', 'BF16', 'F16', 'U16', 'I16']
    expect(order.filter((name) => name.startsWith('x.')).slice(0, dtypes.length)).toEqual(
      dtypes.map((dtype) => `x.${dtype}`),
    )
  })
})
