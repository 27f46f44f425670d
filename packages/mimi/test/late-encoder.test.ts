import { createCpuKernels } from '@pocket/kernels-cpu'
import { type LendWeights, MimiCodec } from '@pocket/mimi'
import type { WeightReader } from '@pocket/nn'
import { expect, test } from 'vitest'
import { editedWeights, reshape, tinyCodec, tinyWeights, wave } from './checkpoints.ts'

const kernels = await createCpuKernels({ simd: 'simd', threads: 1 })
const samples = wave().subarray(0, 5000)
const expected = (await (await tinyCodec('tiny-24l', kernels)).encode(samples)).data

/** Weights that count how often each tensor's bytes are read. */
const counted = (weights: WeightReader) => {
  const reads = new Map<string, number>()
  const count = (name: string): void => {
    reads.set(name, (reads.get(name) ?? 0) + 1)
  }
  const reader: WeightReader = {
    names: () => weights.names(),
    has: (name) => weights.has(name),
    info: (name) => weights.info(name),
    bytes: (name, into) => {
      count(name)
      return weights.bytes(name, into)
    },
    f32: (name) => {
      count(name)
      return weights.f32(name)
    },
  }
  return { reader, reads }
}

const encoderReads = (reads: ReadonlyMap<string, number>): [string, number][] =>
  [...reads].filter(([name]) => /^mimi\.(encoder|encoder_transformer|downsample)\./.test(name))

/** A codec whose encoder is left for later, and what it does with the weights that it is lent then. */
const late = async (lent: () => WeightReader = () => tinyWeights('tiny-24l')) => {
  const loading = counted(tinyWeights('tiny-24l'))
  const log: string[] = []
  const reopen: LendWeights = async (use) => {
    log.push('open')
    try {
      return await use(lent())
    } finally {
      log.push('close')
    }
  }
  const codec = await MimiCodec.load(loading.reader, kernels, {}, { reopen })
  return { codec, log, reads: loading.reads }
}

test('reads no encoder before one is needed, but for the look that says whether it is trained', async () => {
  const { codec, log, reads } = await late()
  expect(codec.canEncode).toBe(true)
  await codec.createDecoder().decode(new Float32Array(32))
  expect(encoderReads(reads)).toEqual([['mimi.encoder.model.0.conv.weight', 1]])
  expect(log).toEqual([])
})

test('encodes to the same bits, with one reading for all who want it', async () => {
  const { codec, log } = await late()
  const streamed = async () => {
    const encoder = codec.createEncoder()
    const [first, rest] = [encoder.encode(samples), encoder.flush()]
    return [...(await first).data, ...(await rest).data]
  }
  const [whole, again, stream] = await Promise.all([codec.encode(samples), codec.encode(samples), streamed()])
  expect(whole.data).toEqual(expected)
  expect(again.data).toEqual(expected)
  expect(stream).toEqual([...expected])
  expect(log).toEqual(['open', 'close'])
})

test('says why it cannot be read, and is read by whoever asks next', async () => {
  let there = false
  const { codec, log } = await late(() => {
    if (there) return tinyWeights('tiny-24l')
    throw new Error('the file has gone')
  })
  const encoder = codec.createEncoder()
  await expect(encoder.encode(samples)).rejects.toThrow('the file has gone')
  await expect(codec.encode(samples)).rejects.toThrow('the file has gone')
  there = true
  expect((await codec.encode(samples)).data).toEqual(expected)
  await expect(encoder.tap('latent')).rejects.toThrow('the file has gone')
  encoder.dispose()
  expect(log.filter((entry) => entry === 'close')).toHaveLength(3)
})

test('refuses other weights before it reads any', async () => {
  const other = counted(
    editedWeights('tiny-24l', (tensors) => reshape(tensors, 'mimi.downsample.conv.conv.weight', [64, 64, 3])),
  )
  const { codec } = await late(() => other.reader)
  await expect(codec.encode(samples)).rejects.toMatchObject({ name: 'MimiError', code: 'wrong-shape' })
  expect(other.reads.size).toBe(0)
})

test('one who leaves meanwhile takes the encoder from nobody', async () => {
  const { codec, log } = await late()
  const controller = new AbortController()
  const [left, stayed] = [codec.encode(samples, { signal: controller.signal }), codec.encode(samples)]
  const encoder = codec.createEncoder()
  const disposed = encoder.encode(samples)
  controller.abort(new Error('enough'))
  encoder.dispose()
  await expect(left).rejects.toThrow('enough')
  await expect(disposed).rejects.toMatchObject({ name: 'MimiError', code: 'disposed' })
  expect((await stayed).data).toEqual(expected)
  expect(log).toEqual(['open', 'close'])
})
