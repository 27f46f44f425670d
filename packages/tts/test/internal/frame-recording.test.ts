import { FlowLm } from '@pocket/flowlm'
import { createCpuKernels } from '@pocket/kernels-cpu'
import { MimiCodec } from '@pocket/mimi'
import { SafeTensors } from '@pocket/safetensors'
import { readFixture, relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { referenceNoise } from '../../src/noise/normal-noise.ts'
import { recordFrame } from '../../src/sources/frame-recording.ts'
import { describeLevels } from '../support/levels.ts'

const frames = 30

/**
 * The plan denormalises in the executor's precision, and its products have no other rows beside them, which some
 * executors sum in another order; nothing else differs.
 */
const rounding = 1e-5

interface Spoken {
  /** Latents and logits. */
  readonly language: number[]
  readonly pcm: number[]
}

/** The place of the first value that is not the same in both, or −1. Matchers would write a report of 60 000 lines. */
const firstDifference = (found: number[], expected: number[]): number => {
  expect(found.length).toBe(expected.length)
  return found.findIndex((value, index) => value !== expected[index])
}

describeLevels('a frame as one plan', (simd) => {
  let kernels: Awaited<ReturnType<typeof createCpuKernels>>
  let model: { flowLm: FlowLm; codec: MimiCodec }

  beforeAll(async () => {
    kernels = await createCpuKernels({ simd })
    const weights = SafeTensors.fromBytes(readFixture('tiny/tiny-2026-04/model.safetensors'))
    model = {
      flowLm: await FlowLm.load(weights, kernels),
      codec: await MimiCodec.load(weights, kernels),
    }
  })
  afterAll(() => kernels.dispose())

  /** Each network by itself, values passing through the host. */
  const separately = async (lsdSteps: number): Promise<Spoken> => {
    const { flowLm, codec } = model
    const state = flowLm.createState()
    const decoder = codec.createDecoder()
    const noise = referenceNoise(7)
    const spoken: Spoken = { language: [], pcm: [] }
    let previous: Float32Array | null = null
    await flowLm.promptTokens([5, 17, 3], state)
    for (let frame = 0; frame < frames; frame++) {
      const step: { hidden: Float32Array; eosLogit: number } = await flowLm.step(previous, state)
      previous = await flowLm.sampleLatent(step.hidden, noise.next(32), lsdSteps)
      const pcm = await decoder.decode(flowLm.denormalize(previous))
      spoken.language.push(...previous, step.eosLogit)
      spoken.pcm.push(...pcm)
    }
    state.dispose()
    decoder.dispose()
    return spoken
  }

  const together = async (lsdSteps: number): Promise<Spoken> => {
    const { flowLm, codec } = model
    const state = flowLm.createState()
    const decoder = codec.createDecoderPass()
    const { recording, initial } = recordFrame(model, state, decoder, lsdSteps)
    const plan = kernels.plan(recording)
    const noise = referenceNoise(7)
    const spoken: Spoken = { language: [], pcm: [] }
    await flowLm.promptTokens([5, 17, 3], state)
    for (const [name, constant] of Object.entries(initial)) plan.write(name, constant)
    for (let frame = 0; frame < frames; frame++) {
      plan.write('noise', noise.next(32))
      plan.run()
      const [next, eos, pcm] = await Promise.all([plan.read('next'), plan.read('eos'), plan.read('pcm')])
      plan.write('latent', next.data)
      spoken.language.push(...next.data, ...eos.data)
      spoken.pcm.push(...pcm.data)
    }
    expect(state.position).toBe(3 + frames)
    plan.dispose()
    state.dispose()
    decoder.dispose()
    return spoken
  }

  test('with one LSD step it is what the networks give one after another', async () => {
    const expected = await separately(1)
    const found = await together(1)
    expect(firstDifference(found.language, expected.language)).toBe(-1)
    if (simd === 'scalar') expect(firstDifference(found.pcm, expected.pcm)).toBe(-1)
    else expect(relativeL2(found.pcm, expected.pcm)).toBeLessThan(rounding)
  })

  test('with several LSD steps too, but for rounding', async () => {
    const expected = await separately(3)
    const found = await together(3)
    expect(relativeL2(found.language, expected.language)).toBeLessThan(rounding)
    expect(relativeL2(found.pcm, expected.pcm)).toBeLessThan(rounding)
  })
})
