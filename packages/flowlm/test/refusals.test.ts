import { FlowLm, FlowLmError, type FlowLmErrorCode, type FlowState, type KvSnapshot } from '@pocket/flowlm'
import { type CpuKernels, createCpuKernels } from '@pocket/kernels-cpu'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openModel, readVoice } from './models.ts'

const voice = readVoice('tiny-2026-04')
let kernels: CpuKernels
let flowLm: FlowLm

beforeAll(async () => {
  kernels = await createCpuKernels({ simd: 'scalar' })
  flowLm = await FlowLm.load(openModel('tiny-2026-04'), kernels)
})

/** The error of a refused call, which must be a FlowLmError of this code with a message that says so. */
const expectRefusal = async (code: FlowLmErrorCode, message: RegExp, call: () => unknown): Promise<void> => {
  const error: unknown = await (async () => call())().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(FlowLmError)
  const refusal = error as FlowLmError
  expect(refusal.name).toBe('FlowLmError')
  expect(refusal.code).toBe(code)
  expect(refusal.message).toMatch(message)
}

describe('a state refuses before any work', () => {
  const capacity = voice.positions + 3
  let state: FlowState

  beforeEach(() => {
    state = flowLm.createState({ adopt: voice, capacity })
  })

  afterEach(() => {
    expect(state.position, 'nothing was done').toBe(voice.positions)
    state.dispose()
  })

  it('a prompt that does not fit', async () => {
    const numbers = /position 25 and 4 more are asked for, but it has room for 28/
    await expectRefusal('capacity', numbers, () => flowLm.promptTokens([1, 2, 3, 4], state))
    await expectRefusal('capacity', numbers, () => flowLm.promptRows(new Float32Array(4 * 128), 4, state))
  })

  it.each([[-1], [1000], [1.5], [Number.NaN]])('token id %d', async (id) => {
    await expectRefusal('token', /token 1 is .*, expected a whole number from 0 to 999/, () =>
      flowLm.promptTokens([7, id], state),
    )
  })

  it('rows of a wrong number', async () => {
    await expectRefusal('input', /rows: 255 values given, expected a Float32Array of 256/, () =>
      flowLm.promptRows(new Float32Array(255), 2, state),
    )
    await expectRefusal('input', /count is -1/, () => flowLm.promptRows(new Float32Array(), -1, state))
    await expectRefusal('input', /count is 0.5/, () => flowLm.promptRows(new Float32Array(64), 0.5, state))
  })

  it('rows that are not finite', async () => {
    const rows = new Float32Array(128).fill(1)
    rows[100] = Number.POSITIVE_INFINITY
    await expectRefusal('input', /rows: value 100 is Infinity/, () => flowLm.promptRows(rows, 1, state))
  })

  it('a previous latent of a wrong length, or NaN where the reference means the beginning of speech', async () => {
    await expectRefusal('input', /previous .*: 31 values given, expected a Float32Array of 32/, () =>
      flowLm.step(new Float32Array(31), state),
    )
    await expectRefusal('input', /null begins speech.*value 0 is NaN/, () =>
      flowLm.step(new Float32Array(32).fill(Number.NaN), state),
    )
    await expectRefusal('input', /undefined given/, () => flowLm.step(undefined as never, state))
  })

  it('a tap before a pass, and one that the last pass does not have', async () => {
    await expectRefusal('tap', /no tap hidden: no pass has run yet/, () => state.tap('hidden'))
    const other = flowLm.createState()
    await flowLm.promptTokens([1], other)
    await expectRefusal('tap', /no tap layer\.3: the last pass has .*layer\.2/, () => other.tap('layer.3'))
    await expectRefusal('tap', /no tap eos/, () => other.tap('eos'))
    other.dispose()
  })

  it('a state of another model', async () => {
    const other = await FlowLm.load(openModel('tiny-2026-01'), kernels)
    for (const call of [
      () => other.promptTokens([1], state),
      () => other.promptRows(new Float32Array(128), 1, state),
      () => other.step(null, state),
      () => other.step(null, { position: 0 } as FlowState),
    ]) {
      await expectRefusal('state', /made by another model/, call)
    }
  })
})

it('a full state refuses the next step and stays as it is', async () => {
  const state = flowLm.createState({ capacity: 1 })
  await flowLm.step(null, state)
  await expectRefusal('capacity', /position 1 and 1 more are asked for, but it has room for 1/, () =>
    flowLm.step(null, state),
  )
  expect((await state.snapshot()).positions).toBe(1)
  expect((await state.tap('eos')).shape).toEqual([1, 1])
  state.dispose()
})

it('a disposed state refuses everything but another dispose', async () => {
  const state = flowLm.createState({ adopt: voice })
  await flowLm.promptTokens([1], state)
  state.dispose()
  state.dispose()
  for (const call of [
    () => flowLm.step(null, state),
    () => flowLm.promptTokens([1], state),
    () => flowLm.promptTokens([], state),
    () => flowLm.promptRows(new Float32Array(128), 1, state),
    () => state.snapshot(),
    () => state.tap('hidden'),
  ]) {
    await expectRefusal('disposed', /createState/, call)
  }
})

describe('createState refuses', () => {
  const [firstLayer = { k: new Float32Array(), v: new Float32Array() }, ...otherLayers] = voice.layers
  const foreign: [string, KvSnapshot, RegExp][] = [
    [
      'too few layers',
      { ...voice, layers: otherLayers },
      /2 layers of 2 heads × 64, this model has 3 layers of 2/,
    ],
    ['other heads', { ...voice, heads: 1, headDim: 128 }, /3 layers of 1 heads × 128/],
    ['fractional positions', { ...voice, positions: 0.5 }, /0.5 positions/],
    ['negative positions', { ...voice, positions: -1 }, /-1 positions/],
    [
      'fewer keys than positions',
      { ...voice, positions: 26 },
      /layer 0 .* 3200 keys and 3200 values, expected 3328/,
    ],
    [
      'fewer values than keys',
      { ...voice, layers: [firstLayer, { ...firstLayer, v: new Float32Array(3) }, firstLayer] },
      /layer 1 of the snapshot has 3200 keys and 3 values/,
    ],
  ]
  it.each(foreign)('a snapshot with %s', async (_, adopt, message) => {
    await expectRefusal('snapshot', message, () => flowLm.createState({ adopt }))
  })

  it('a snapshot that does not fit', async () => {
    await expectRefusal('capacity', /25 positions, but it has room for 24/, () =>
      flowLm.createState({ adopt: voice, capacity: 24 }),
    )
  })

  it.each([[0], [-1], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY]])(
    'a capacity of %d',
    async (capacity) => {
      await expectRefusal('input', /capacity is .*, expected a whole number of at least 1/, () =>
        flowLm.createState({ capacity }),
      )
    },
  )
})

describe('sampleLatent refuses', () => {
  const hidden = new Float32Array(128)
  const noise = new Float32Array(32)

  it.each([[0], [-1], [1.5], [Number.NaN], [1001], [Number.POSITIVE_INFINITY]])('%d steps', async (steps) => {
    await expectRefusal('steps', /expected a whole number from 1 to 1000/, () =>
      flowLm.sampleLatent(hidden, noise, steps),
    )
  })

  it('values of a wrong number or not finite', async () => {
    await expectRefusal('input', /hidden: 127 values/, () =>
      flowLm.sampleLatent(new Float32Array(127), noise, 1),
    )
    await expectRefusal('input', /noise: 33 values/, () =>
      flowLm.sampleLatent(hidden, new Float32Array(33), 1),
    )
    await expectRefusal('input', /noise: value 0 is NaN/, () =>
      flowLm.sampleLatent(
        hidden,
        noise.map(() => Number.NaN),
        1,
      ),
    )
  })
})

describe('voicePrompt refuses', () => {
  it.each([[0], [-1], [0.5]])('%d frames', async (frames) => {
    await expectRefusal('input', /frames is/, () => flowLm.voicePrompt(new Float32Array(), frames))
  })

  it('latents of a wrong number or not finite', async () => {
    await expectRefusal('input', /latents: 32 values given, expected a Float32Array of 64/, () =>
      flowLm.voicePrompt(new Float32Array(32), 2),
    )
    await expectRefusal('input', /latents: value 5 is NaN/, () =>
      flowLm.voicePrompt(new Float32Array(32).fill(Number.NaN, 5), 1),
    )
  })
})

it('denormalize refuses parts of a latent', async () => {
  await expectRefusal('input', /latent: 33 values given, expected rows of 32/, () =>
    flowLm.denormalize(new Float32Array(33)),
  )
})
