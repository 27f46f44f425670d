import { Checkpoint, type CheckpointProblem, widenedWeight } from '@pocket/nn'
import { openSource, SafeTensors } from '@pocket/safetensors'
import { writeTensorFile } from '@tooling/fixtures'
import { describe, expect, it } from 'vitest'

class NetworkError extends Error {
  readonly problem: CheckpointProblem
  constructor(problem: CheckpointProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

const floats = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer)
const open = (prefix: string): Checkpoint => {
  const file = writeTensorFile([
    { name: `${prefix}weight`, dtype: 'F32', shape: [2, 1], bytes: floats(1, 2) },
    { name: `${prefix}half`, dtype: 'BF16', shape: [2], bytes: Uint8Array.of(0x80, 0x3f, 0, 0xc0) },
    { name: `${prefix}float16`, dtype: 'F16', shape: [2], bytes: Uint8Array.of(0, 0x3c, 0, 0xc0) },
    { name: `${prefix}double`, dtype: 'F64', shape: [1], bytes: new Uint8Array(Float64Array.of(0.5).buffer) },
    { name: `${prefix}ids`, dtype: 'I64', shape: [1], bytes: new Uint8Array(8) },
    { name: `${prefix}t.layers.0.linear1.weight`, dtype: 'F32', shape: [1], bytes: floats(0) },
    { name: `${prefix}t.layers.1.linear1.weight`, dtype: 'F32', shape: [1], bytes: floats(0) },
  ])
  return new Checkpoint(SafeTensors.fromBytes(file), {
    prefix: 'net.',
    fail: (problem, message) => new NetworkError(problem, message),
  })
}

describe('a checkpoint that lends tensors', () => {
  const values: Record<string, number[]> = { a: [1, 2, 3], b: [4], c: [5, 6, 7, 8] }
  const file = writeTensorFile(
    Object.entries(values).map(([name, of]) => ({
      name,
      dtype: 'F32' as const,
      shape: [of.length],
      bytes: floats(...of),
    })),
  )
  const openReading = async (): Promise<Checkpoint> => {
    const source = {
      size: file.length,
      async read(offset: number, length: number, into?: Uint8Array) {
        const bytes = into && into.length >= length ? into.subarray(0, length) : new Uint8Array(length)
        bytes.set(file.subarray(offset, offset + length))
        return bytes
      },
    }
    return new Checkpoint(await openSource(source), { prefix: '', fail: (_, message) => new Error(message) })
  }
  const lend = (checkpoint: Checkpoint, name: string) =>
    checkpoint.lend(name, [values[name]!.length], ({ bytes }) => ({
      buffer: bytes.buffer,
      values: [...new Float32Array(bytes.slice().buffer)],
    }))

  it('reads one after the other into the same memory, which is as large as the largest', async () => {
    const checkpoint = await openReading()
    const [a, b, c] = [await lend(checkpoint, 'a'), await lend(checkpoint, 'b'), await lend(checkpoint, 'c')]
    expect([a.values, b.values, c.values]).toEqual([values.a, values.b, values.c])
    expect(b.buffer).toBe(a.buffer)
    expect(c.buffer).toBe(a.buffer)
    expect(a.buffer.byteLength).toBe(16)
  })

  it('gives that memory back when it is told, and takes other memory afterwards', async () => {
    const checkpoint = await openReading()
    const { buffer } = await lend(checkpoint, 'a')
    checkpoint.release()
    checkpoint.release()
    expect(buffer.byteLength).toBe(0)
    expect((await lend(checkpoint, 'c')).values).toEqual(values.c)
  })

  it('gives those that are read at the same time memory of their own', async () => {
    const checkpoint = await openReading()
    const names = ['c', 'a', 'b', 'c']
    const lent = await Promise.all(names.map((name) => lend(checkpoint, name)))
    expect(lent.map((one) => one.values)).toEqual(names.map((name) => values[name]))
    expect(new Set(lent.map(({ buffer }) => buffer)).size).toBe(4)
  })

  it('never writes to a file in memory', async () => {
    const copy = file.slice()
    const checkpoint = new Checkpoint(SafeTensors.fromBytes(copy), { prefix: '', fail: () => new Error() })
    for (const name of ['c', 'a', 'b']) expect((await lend(checkpoint, name)).values).toEqual(values[name])
    expect(copy).toEqual(file)
  })
})

describe.each(['net.', ''])('a checkpoint whose names begin with "%s"', (prefix) => {
  const checkpoint = open(prefix)

  it('finds tensors by the names within the network', async () => {
    expect(checkpoint.has('weight')).toBe(true)
    expect(checkpoint.shape('weight')).toEqual([2, 1])
    expect([...(await checkpoint.values('weight', [2, 1]))]).toEqual([1, 2])
    expect(checkpoint.countLayers('t.')).toBe(2)
  })

  it('hands out BF16, F16 and F32 as stored and widens the rest', async () => {
    const half = await checkpoint.stored('half', [2])
    expect(half).toMatchObject({ dtype: 'BF16', shape: [2] })
    const float16 = await checkpoint.stored('float16', [2])
    expect(float16).toMatchObject({ dtype: 'F16', shape: [2] })
    expect([half, float16].map((weight) => [...widenedWeight(weight)])).toEqual([
      [1, -2],
      [1, -2],
    ])
    const double = await checkpoint.stored('double', [1])
    expect(double.dtype).toBe('F32')
    expect([...new Float32Array(double.bytes.slice().buffer)]).toEqual([0.5])
  })

  it.each([
    ['missing-tensor', () => checkpoint.shape('nothing')],
    ['wrong-shape', () => checkpoint.shape('weight', 3)],
    ['wrong-shape', () => checkpoint.values('weight', [1, 2])],
    ['wrong-dtype', () => checkpoint.stored('ids', [1])],
  ] as const)("fails with the network's own error: %s", async (problem, attempt) => {
    await expect((async () => attempt())()).rejects.toMatchObject({ problem })
  })
})
