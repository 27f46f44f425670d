import { KernelError } from '@pocket/nn'
import type { Voice } from '@pocket/tts'
import { relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Backend } from '../../src/backend/backend.ts'
import { LastingBackend, type Reopen } from '../../src/backend/lasting-backend.ts'
import type { NetworkFiles } from '../../src/backend/networks.ts'
import type { FrameSource } from '../../src/generate/frame-source.ts'
import type { PlannedChunk } from '../../src/generate/plan-text.ts'
import { CpuFrameSource } from '../../src/sources/cpu.ts'
import { HybridFrameSource } from '../../src/sources/hybrid.ts'
import { ResumingSource } from '../../src/sources/resuming.ts'
import { RunAheadSource } from '../../src/sources/run-ahead.ts'
import { SharedVoices } from '../../src/sources/shared-voices.ts'
import { fastest } from '../support/levels.ts'
import {
  every,
  loadNetworks,
  type Model,
  planWords,
  type Spoken,
  sameBits,
  speakChunks,
} from './embedded-speech.ts'
import { PlanStreams } from './plan-streams.ts'

/*
 * The sources are real; what goes away is said by the test, so that it can be at any point. Real devices are lost in
 * gpu.test.ts.
 */

let model: Model
let voice: Voice
let chunks: PlannedChunk[]

beforeAll(async () => {
  model = await loadNetworks(fastest)
  ;({ voice, chunks } = await planWords())
}, 60_000)
afterAll(() => model.kernels.dispose())

const files = {} as NetworkFiles
const reopen: Reopen = (use) => use(files)
const lossError = (): KernelError => new KernelError('device-lost', 'the GPU is gone')

/** A device that works for a number of calls: the beginning of a chunk is one, and so is each frame. */
class Device {
  readonly #calls: number
  #made = 0
  disposed = 0
  /** Chunks that were begun and not ended. */
  open = 0

  constructor(calls: number) {
    this.#calls = calls
  }

  check(): void {
    if (this.#made++ >= this.#calls) throw lossError()
  }

  source(inner: FrameSource): FrameSource {
    const device = this
    return {
      start: async (...asked) => {
        device.open++
        device.check()
        await inner.start(...asked)
      },
      next: async (...asked) => {
        device.check()
        return inner.next(...asked)
      },
      ...(inner.run && {
        async *run(...asked) {
          for await (const step of inner.run!(...asked)) {
            device.check()
            yield step
          }
        },
      }),
      end: async () => {
        device.open--
        await inner.end()
      },
    }
  }
}

type MakeSource = () => FrameSource

const runAhead: MakeSource = () => new RunAheadSource(model, new PlanStreams(model.kernels), every(3, 2))
const hybrid: MakeSource = () =>
  new HybridFrameSource(model.flowLm, model.codec, new SharedVoices(model.flowLm))
const onCpu: MakeSource = () => new CpuFrameSource(model.flowLm, model.codec, { threads: 2 })

const backendOn = (device: Device, make: MakeSource, remake?: Backend['remake']): Backend => ({
  report: { name: 'gpu' },
  flowLm: model.flowLm,
  codec: model.codec,
  threads: 1,
  createSource: () => device.source(make()),
  ...(remake && { remake }),
  dispose: () => {
    device.disposed++
  },
})

/** Backends one after another, each on a device that works for so many calls. */
const succession = (make: MakeSource, ...calls: number[]): { lasting: LastingBackend; devices: Device[] } => {
  const devices = calls.map((each) => new Device(each))
  const backendAt = (index: number): Backend =>
    backendOn(devices[index]!, make, async () => {
      if (index + 1 === devices.length) throw new Error('no GPU is left')
      return backendAt(index + 1)
    })
  return { lasting: new LastingBackend(backendAt(0), reopen), devices }
}

const always = Number.POSITIVE_INFINITY

const expectNothingHeld = (devices: readonly Device[]): void => {
  expect(devices.map(({ open }) => open)).toEqual(devices.map(() => 0))
  // The lost ones, not the last.
  expect(devices.map(({ disposed }) => disposed)).toEqual(
    devices.map((_, index) => (index + 1 < devices.length ? 1 : 0)),
  )
}

describe.each([
  ['a GPU', runAhead],
  ['a GPU for the codec', hybrid],
])('%s that is lost', (_, make) => {
  let expected: Spoken

  beforeAll(async () => {
    expected = await speakChunks(make(), chunks, { voice })
  })

  test('wherever that is, what is heard is the same to the bit', async () => {
    const callsOfAll = expected.frames + chunks.length
    // The beginning, the first frames, within a submit, between two, and the beginnings of the chunks after.
    const [first = 0, second = 0] = expected.chunks.map(({ frames }) => frames + 1)
    for (const calls of [0, 1, 2, 3, 5, first, first + 1, first + second + 4, callsOfAll - 1]) {
      const { lasting, devices } = succession(make, calls, always)
      const { pcm, chunks: spoken } = await speakChunks(new ResumingSource(lasting), chunks, { voice })
      expect(spoken).toEqual(expected.chunks)
      expect(sameBits(pcm, expected.pcm)).toBe(true)
      expectNothingHeld(devices)
    }
  })

  test('once in every chunk is survived', async () => {
    const [first = 0, second = 0] = expected.chunks.map(({ frames }) => frames)
    const { lasting, devices } = succession(make, 4, 1 + first + 3, 1 + second + 2, always)
    const { pcm } = await speakChunks(new ResumingSource(lasting), chunks, { voice })
    expect(sameBits(pcm, expected.pcm)).toBe(true)
    expectNothingHeld(devices)
  })

  test('frame by frame, as any source, too', async () => {
    const { lasting } = succession(make, 5, always)
    const source = new ResumingSource(lasting)
    const frames: FrameSource = {
      start: (...asked) => source.start(...asked),
      next: (...asked) => source.next(...asked),
      end: () => source.end(),
    }
    const { pcm } = await speakChunks(frames, chunks, { voice })
    expect(sameBits(pcm, expected.pcm)).toBe(true)
  })

  test('twice in one chunk ends the utterance, after what was made, and the next one is spoken', async () => {
    const { lasting, devices } = succession(make, 4, 5, always)
    let frames = 0
    const onFrame = (): void => {
      frames++
    }
    const spoken = speakChunks(new ResumingSource(lasting), chunks, { voice, onFrame })
    await expect(spoken).rejects.toMatchObject({
      code: 'gpu-lost',
      message: expect.stringContaining('Speak again'),
      cause: { code: 'device-lost' },
    })
    // Three of the first device; the second made those again and one more.
    expect(frames).toBe(4)
    const again = await speakChunks(new ResumingSource(lasting), chunks, { voice })
    expect(sameBits(again.pcm, expected.pcm)).toBe(true)
    expectNothingHeld(devices)
  })

  test('goes on on the CPU where there is no other, for good', async () => {
    const device = new Device(4)
    const cpu = new Device(always)
    const lasting = new LastingBackend(
      backendOn(device, make, async () => backendOn(cpu, onCpu)),
      reopen,
    )
    const { pcm, chunks: spoken } = await speakChunks(new ResumingSource(lasting), chunks, { voice })
    expect(spoken).toEqual(expected.chunks)
    expect(relativeL2(pcm, expected.pcm)).toBeLessThan(1e-4)
    expect(lasting.canBeLost).toBe(false)
    expectNothingHeld([device, cpu])
  })
})

test('a loss between utterances is noticed before the next', async () => {
  const device = new Device(always)
  const next = new Device(always)
  let lose = (): void => {}
  const lost = new Promise<void>((resolve) => {
    lose = resolve
  })
  const first = { ...backendOn(device, runAhead, async () => backendOn(next, runAhead)), lost }
  const lasting = new LastingBackend(first, reopen)
  lose()
  await lost
  const lease = await lasting.lease()
  expect(lease.backend).not.toBe(first)
  expect(device.disposed).toBe(1)
  lease.release()
})

test('listeners who lose one GPU together wait for one other, and let go of the first when all have left it', async () => {
  const { lasting, devices } = succession(runAhead, 10, always)
  const some = chunks.slice(0, 1)
  const expected = await speakChunks(runAhead(), some, { voice })
  const all = await Promise.all(
    [1, 2, 3].map(() => speakChunks(new ResumingSource(lasting), some, { voice })),
  )
  for (const { pcm } of all) expect(sameBits(pcm, expected.pcm)).toBe(true)
  expectNothingHeld(devices)
})

test('where no other can be had, each utterance says so and tries again', async () => {
  const gone = new Device(3)
  const working = new Device(always)
  let tries = 0
  const lasting = new LastingBackend(
    backendOn(gone, runAhead, async () => {
      if (tries++ < 2) throw new Error('the driver is being replaced')
      return backendOn(working, runAhead)
    }),
    reopen,
  )
  const speak = () => speakChunks(new ResumingSource(lasting), chunks.slice(0, 1), { voice })
  for (const _ of [1, 2]) {
    await expect(speak()).rejects.toMatchObject({
      code: 'gpu-lost',
      message: expect.stringMatching(/cannot be had again: the driver is being replaced.*Speak again/),
    })
  }
  expect((await speak()).frames).toBeGreaterThan(3)
  expect(tries).toBe(3)
  expectNothingHeld([gone, working])
})

test('an abort does not wait for another GPU, and neither does the end of the model', async () => {
  const device = new Device(3)
  const late = new Device(always)
  let arrive = (): void => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const stop = new AbortController()
  const lasting = new LastingBackend(
    backendOn(device, runAhead, async () => {
      stop.abort('enough')
      await arrived
      return backendOn(late, runAhead)
    }),
    reopen,
  )
  const { signal } = stop
  const spoken = speakChunks(new ResumingSource(lasting), chunks, { voice, signal })
  await expect(spoken).rejects.toBe('enough')
  const leasing = lasting.lease()
  lasting.dispose()
  arrive()
  await expect(leasing).rejects.toMatchObject({ code: 'disposed' })
  // What arrives after the end is given back at once.
  expect([device.disposed, late.disposed]).toEqual([1, 1])
})

test('other work is done once more after a loss, and not a third time', async () => {
  const { lasting } = succession(runAhead, always, always, always, always)
  const used: Backend[] = []
  const heard = await lasting.with(async (backend) => {
    used.push(backend)
    if (used.length === 1) throw lossError()
    return 'heard'
  })
  expect(heard).toBe('heard')
  expect(used[1]).not.toBe(used[0])
  const losing = lasting.with(async () => {
    throw lossError()
  })
  await expect(losing).rejects.toMatchObject({ code: 'gpu-lost' })
  const failing = lasting.with(async () => {
    throw new Error('something else')
  })
  await expect(failing).rejects.toThrow('something else')
})
