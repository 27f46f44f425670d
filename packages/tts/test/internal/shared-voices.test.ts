import { FlowLm, type KvSnapshot, type SharedSnapshot } from '@pocket/flowlm'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { SafeTensors } from '@pocket/safetensors'
import { readFixture } from '@tooling/fixtures'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { SharedVoices } from '../../src/sources/shared-voices.ts'

let flowLm: FlowLm
let voices: SharedVoices
let emma: KvSnapshot
let george: KvSnapshot

beforeAll(async () => {
  const weights = SafeTensors.fromBytes(readFixture('tiny/tiny-2026-04/model.safetensors'))
  flowLm = await FlowLm.load(weights, await createCpuKernels())
})

const prompted = async (ids: number[]): Promise<KvSnapshot> => {
  const state = flowLm.createState()
  await flowLm.promptTokens(ids, state)
  const snapshot = await state.snapshot()
  state.dispose()
  return snapshot
}

beforeEach(async () => {
  voices = new SharedVoices(flowLm)
  emma = await prompted([1, 2, 3])
  george = await prompted([4, 5])
})

/** A voice that was let go of cannot be adopted any more. */
const isThere = (adopt: SharedSnapshot): boolean => {
  try {
    flowLm.createState({ adopt }).dispose()
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'disposed' })
    return false
  }
}

it('two utterances with one voice share it', () => {
  const first = voices.use(emma)
  expect(voices.use(emma)).toBe(first)
  voices.release(emma)
  expect(isThere(first)).toBe(true)
})

it('the voice used last stays for the next utterance', () => {
  const first = voices.use(emma)
  voices.release(emma)
  expect(isThere(first)).toBe(true)
  expect(voices.use(emma)).toBe(first)
})

it('a voice goes when nobody speaks with it and another was used since', () => {
  const first = voices.use(emma)
  const other = voices.use(george)
  expect(isThere(first)).toBe(true)
  voices.release(emma)
  expect(isThere(first)).toBe(false)
  voices.release(george)
  expect(isThere(other)).toBe(true)
  const again = voices.use(emma)
  expect(again).not.toBe(first)
  expect(isThere(other)).toBe(false)
  expect(isThere(again)).toBe(true)
})

it('voices nobody speaks with stay as far as their bytes go, those used latest first', () => {
  const bytes = (kv: KvSnapshot): number =>
    kv.layers.reduce((sum, { k, v }) => sum + k.byteLength + v.byteLength, 0)
  // The latest always stays; of the others there is room for one.
  voices = new SharedVoices(flowLm, { idleBytes: bytes(emma) })
  const speak = (kv: KvSnapshot): SharedSnapshot => {
    const shared = voices.use(kv)
    voices.release(kv)
    return shared
  }
  const first = speak(emma)
  const second = speak(george)
  expect([first, second].map(isThere)).toEqual([true, true])
  expect(speak(emma)).toBe(first)
  const held = voices.use(george)
  expect(held).toBe(second)
  const third = voices.use(structuredClone(emma))
  const fourth = speak(structuredClone(emma))
  // Who speaks with a voice keeps it, whatever its bytes.
  expect([first, held, third, fourth].map(isThere)).toEqual([true, true, true, true])
  voices.release(george)
  expect([first, held].map(isThere)).toEqual([false, true])
})

it('gives all back at the end, and knows them no more', () => {
  const shared = voices.use(emma)
  voices.release(emma)
  voices.dispose()
  expect(isThere(shared)).toBe(false)
  expect(voices.use(emma)).not.toBe(shared)
})
