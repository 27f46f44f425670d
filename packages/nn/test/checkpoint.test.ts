import { Checkpoint, type CheckpointProblem } from '@pocket/nn'
import { SafeTensors } from '@pocket/safetensors'
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

describe.each(['net.', ''])('a checkpoint whose names begin with "%s"', (prefix) => {
  const checkpoint = open(prefix)

  it('finds tensors by the names within the network', async () => {
    expect(checkpoint.has('weight')).toBe(true)
    expect(checkpoint.shape('weight')).toEqual([2, 1])
    expect([...(await checkpoint.values('weight', [2, 1]))]).toEqual([1, 2])
    expect(checkpoint.countLayers('t.')).toBe(2)
  })

  it('hands out BF16 and F32 as stored and widens the rest', async () => {
    expect(await checkpoint.stored('half', [2])).toMatchObject({ dtype: 'BF16', shape: [2] })
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
