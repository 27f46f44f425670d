import { createGpuKernels, type GpuKernels } from '@pocket/kernels-wgsl'
import { mini } from '@pocket/mini'
import { SafeTensors } from '@pocket/safetensors'
import { chunkNoise, type LoadOptions, PocketTts, referenceNoise, type Warning } from '@pocket/tts'
import { relativeL2 } from '@tooling/fixtures'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Backend } from '../../src/backend/backend.ts'
import { chooseBackend } from '../../src/backend/choose-backend.ts'
import { loadCpuBackend } from '../../src/backend/cpu-backend.ts'
import { loadGpuBackend, loadHybridBackend } from '../../src/backend/gpu-backend.ts'
import { type KnownFrames, speakKnownFrames } from '../../src/backend/known-frames.ts'
import { LastingBackend } from '../../src/backend/lasting-backend.ts'
import type { NetworkFiles } from '../../src/backend/networks.ts'
import { type LoadOnGpu, loadRemakeable } from '../../src/backend/remakeable.ts'
import { decoderTrial, frameTrial } from '../../src/backend/tune-gpu.ts'
import { driveUtterance } from '../../src/generate/driver.ts'
import { type FrameSource, type Step, samplesOf } from '../../src/generate/frame-source.ts'
import type { PlannedChunk } from '../../src/generate/plan-text.ts'
import { scaledNoise } from '../../src/noise/scaled-noise.ts'
import { ResumingSource } from '../../src/sources/resuming.ts'
import { RunAheadSource } from '../../src/sources/run-ahead.ts'
import { SharedVoices } from '../../src/sources/shared-voices.ts'
import { freshSpeakers, KeptSpeakers, type Speakers } from '../../src/sources/speakers.ts'
import { describeOnGpu } from '../support/gpu.ts'
import { fastest } from '../support/levels.ts'
import { tinyFolder, tinyParts, tinyVoice } from '../support/tiny.ts'
import { sameBits, speakChunks } from './embedded-speech.ts'
import { describeGoldens, describePrecisions } from './gpu-goldens.ts'

/** Every executor that a model is loaded on, to be looked at and lost. */
const opened = vi.hoisted((): GpuKernels[] => [])
/** Where one is set, the device that models are loaded on: to compile takes SwiftShader long. */
const given = vi.hoisted((): { kernels?: Promise<GpuKernels> } => ({}))
vi.mock('@pocket/kernels-wgsl', async (original) => {
  const real = await original<{ createGpuKernels: typeof createGpuKernels }>()
  const createAndNote: typeof createGpuKernels = async (options) => {
    const kernels = given.kernels ? sharing(await given.kernels) : await real.createGpuKernels(options)
    opened.push(kernels)
    return kernels
  }
  return { ...real, createGpuKernels: createAndNote }
})

/** The same device and kernels for another backend, which may give back only what is its own. */
const sharing = (gpu: GpuKernels): GpuKernels => {
  const kernels = gpu.withLanes(1)
  vi.spyOn(kernels, 'dispose').mockImplementation(() => {})
  return kernels
}

// From the fixtures' README, for whole passes in float32; measured here: 3e-7.
const tolerance = 5e-5

const chunkOf = (maxFrames: number): PlannedChunk => ({
  text: 'text',
  ids: Uint32Array.of(5, 17, 3),
  framesAfterEos: 1,
  maxFrames,
  span: { start: 0, end: 4 },
})

/** Compiling takes SwiftShader longer than everything else: all tests of this model share one device. */
describeOnGpu('the reference model on the GPU', () => {
  let tts: PocketTts
  let gpu: GpuKernels
  let yes: Float32Array

  beforeAll(async () => {
    tts = await PocketTts.load(tinyFolder, { backend: 'gpu', simd: fastest })
    gpu = opened.at(-1)!
    yes = await tts.generate('Yes.', { voice: tinyVoice, eosThreshold: -1000 })
  }, 300_000)
  afterAll(async () => {
    tts.dispose()
    ;(await given.kernels)?.dispose()
    delete given.kernels
  })

  test('passed the self-check, and says on what', () => {
    expect(tts.backend.name).toBe('gpu')
    expect(tts.backend.tuning).toEqual(gpu.tuning)
    expect(tts.backend.adapter).toMatch(/\w/)
    expect(tts.backend.frameMs?.gpu).toBeGreaterThan(0)
    expect(tts.warnings).toEqual([])
  })

  /** Another model on the device that all share. */
  const loadBeside = async (folder: string, options: LoadOptions = {}): Promise<PocketTts> => {
    given.kernels = Promise.resolve(gpu)
    try {
      return await PocketTts.load(folder, { backend: 'gpu', simd: fastest, ...options })
    } finally {
      delete given.kernels
    }
  }

  describeGoldens('tiny-2026-04', loadBeside, ['never', 'after-1000', 'threshold-high'])
  describeGoldens('tiny-2026-01', loadBeside, ['never', 'multi'])
  describeGoldens('tiny-24l', loadBeside, ['never', 'multi'])
  describePrecisions(loadBeside)

  test('gives the same bits however many frames go in a submit, and however many submits are under way', async () => {
    const voice = await tts.loadVoice(tinyVoice)
    const speak = async (
      framesPerSubmit: number,
      inFlight: number,
      speakers: Speakers = freshSpeakers(tts, gpu),
    ): Promise<Buffer> => {
      const source = new RunAheadSource(tts, gpu, { framesPerSubmit: [framesPerSubmit], inFlight }, speakers)
      const noise = scaledNoise(referenceNoise(3), 0.7)
      const steps: Step[] = []
      await source.start(voice, Uint32Array.of(5, 17, 3), 8)
      const rows = { next: () => noise.next(tts.flowLm.config.latentDim) }
      for await (const step of source.run(rows, { lsdSteps: 1 })) steps.push(step)
      await source.end()
      const values = await Promise.all(
        steps.map(async (step) => [...step.latent, step.eosLogit, ...(await samplesOf(step))]),
      )
      return Buffer.from(Float32Array.from(values.flat()).buffer)
    }
    const one = await speak(1, 1)
    for (const [framesPerSubmit, inFlight] of [
      [3, 2],
      [8, 3],
    ] as const) {
      expect((await speak(framesPerSubmit, inFlight)).equals(one)).toBe(true)
    }
    // And whether states and plans are made for it, or have been used before; two at once take what one left.
    const kept = new KeptSpeakers(tts, gpu, new SharedVoices(tts.flowLm))
    const again = [await speak(3, 2, kept), ...(await Promise.all([speak(3, 2, kept), speak(1, 2, kept)]))]
    for (const bits of again) expect(bits.equals(one)).toBe(true)
  }, 300_000)

  test('gives back what an utterance took, however it ended', async () => {
    const voice = await tts.loadVoice(tinyVoice)
    const speak = (framesAfterEos: number) =>
      tts.speak('Yes.', { voice, eosThreshold: -1000, framesAfterEos })
    await speak(1)
    await gpu.ready()
    const { bytes } = gpu
    await speak(2)
    const stopped = new AbortController()
    const reason = new Error('enough')
    const aborted = tts.speak('Yes.', {
      voice,
      signal: stopped.signal,
      onProgress: () => stopped.abort(reason),
    })
    await expect(aborted).rejects.toBe(reason)
    for await (const _ of tts.stream('Yes.', { voice })) break
    await Promise.all([speak(1), speak(1)])
    // Buffers that results are read through stay, as many as were needed at once: at most 64 KB each.
    expect(gpu.bytes - bytes).toBeLessThan(8 * 65536)
    await Promise.all([speak(1), speak(1)])
    const { bytes: settled } = gpu
    await speak(2)
    expect(gpu.bytes).toBe(settled)
  }, 300_000)

  const files: NetworkFiles = {
    weights: SafeTensors.fromBytes(tinyParts.model),
    config: {},
    options: {},
  }

  const shared = (): GpuKernels => sharing(gpu)

  const knownFrames = async (): Promise<KnownFrames> => {
    const cpu = await loadCpuBackend(files, { simd: fastest })
    const frames = await speakKnownFrames(cpu.createSource(), cpu.flowLm)
    cpu.dispose()
    return frames
  }

  /** A backend on the device that all share, and on one of its own when that is gone. */
  const lasting = async (
    load: (onto: Parameters<LoadOnGpu>) => Promise<Backend>,
  ): Promise<LastingBackend> => {
    const open = () => createGpuKernels()
    const backend = await loadRemakeable(files, shared(), (...onto) => load(onto), open)
    return new LastingBackend(backend, (use) => use(files))
  }

  /** Samples of a chunk that runs to its greatest length. */
  const speak = async (
    { createSource, flowLm }: Pick<Backend, 'createSource' | 'flowLm'>,
    seed: number,
    maxFrames: number,
    onFrame = (): void => {},
  ): Promise<Float32Array> => {
    const voice = await tts.loadVoice(tinyVoice)
    const noise = scaledNoise(referenceNoise(seed), 0.7)
    const samples: number[] = []
    for await (const { pcm } of driveUtterance([chunkOf(maxFrames)], {
      source: createSource(),
      voice,
      settings: { noise, lsdSteps: 1, eosThreshold: 1000, onProgress: undefined, onWarning: undefined },
      latentDim: flowLm.config.latentDim,
      sampleRate: 24000,
      signal: new AbortController().signal,
    })) {
      samples.push(...pcm)
      onFrame()
    }
    return Float32Array.from(samples)
  }

  test('utterances in lanes join, leave and wait, and do not hear one another', async () => {
    const cpu = await loadCpuBackend(files, { simd: fastest })
    const backend = await loadGpuBackend(files, shared(), await knownFrames(), 2)
    const alone = await speak(backend, 1, 6)
    expect(relativeL2(alone, await speak(cpu, 1, 6))).toBeLessThan(tolerance)
    // Three in two lanes: the last begins where the second has left, beside the first.
    const [beside, ...others] = await Promise.all([
      speak(backend, 1, 6),
      speak(backend, 2, 2),
      speak(backend, 3, 3),
    ])
    expect(Buffer.from(beside.buffer).equals(Buffer.from(alone.buffer))).toBe(true)
    for (const [index, samples] of others.entries()) {
      expect(relativeL2(samples, await speak(cpu, index + 2, index + 2))).toBeLessThan(tolerance)
    }
    const voice = await tts.loadVoice(tinyVoice)
    // Chunks of one text, beside one another and one after the other.
    const chunks = [chunkOf(2), chunkOf(5), chunkOf(3)]
    const noiseOfChunk = (index: number) => scaledNoise(chunkNoise(5, index), 0.7)
    const { createSource } = backend
    const [serial, besides] = [
      await speakChunks(createSource(), chunks, { voice, noiseOfChunk }),
      await speakChunks(createSource(), chunks, { voice, noiseOfChunk, aside: { most: 2, createSource } }),
    ]
    expect(besides.chunks).toEqual(serial.chunks)
    expect(sameBits(besides.pcm, serial.pcm)).toBe(true)
    const join = async (text = Uint32Array.of(5), signal?: AbortSignal): Promise<FrameSource> => {
      const source = backend.createSource()
      await source.start(voice, text, 1, signal)
      return source
    }
    await expect(join(new Uint32Array(1100))).rejects.toMatchObject({ code: 'too-long' })
    // Who waits for a lane may go, and takes none along.
    const speakers = [await join(), await join()]
    const stop = new AbortController()
    const waiting = join(undefined, stop.signal)
    stop.abort('enough')
    await expect(waiting).rejects.toBe('enough')
    const next = join()
    for (const speaker of speakers) await speaker.end()
    for (const speaker of [await next, await join()]) await speaker.end()
    backend.dispose()
    cpu.dispose()
  }, 300_000)

  test('is timed on frames that begin alike and go on', async () => {
    for (const open of [() => frameTrial(tts, gpu), () => decoderTrial(tts.codec, gpu)]) {
      const [trial, again] = [open(), open()]
      const first = await trial.run()
      expect(first.every((values) => values.every(Number.isFinite))).toBe(true)
      expect(await trial.run()).not.toEqual(first)
      expect(await again.run()).toEqual(first)
      for (const one of [trial, again]) one.dispose()
    }
  }, 300_000)

  test('may have the codec alone, and then speaks as the CPU does', async () => {
    const cpu = await loadCpuBackend(files, { simd: fastest })
    const hybrid = await loadHybridBackend(files, shared(), await knownFrames(), { simd: fastest })
    expect(hybrid.report).toMatchObject({ name: 'hybrid', adapter: tts.backend.adapter })
    const expected = await speak(cpu, 3, 5)
    const found = await speak(hybrid, 3, 5)
    expect(found.length).toBe(5 * 1920)
    expect(relativeL2(found, expected)).toBeLessThan(tolerance)
    hybrid.dispose()
    cpu.dispose()
  }, 300_000)

  /** Weights never arrive: what is computed is wrong, and nothing fails. */
  const forgetting = async <T>(use: (kernels: GpuKernels) => Promise<T>): Promise<T> => {
    const write = vi.spyOn((gpu.device as GPUDevice).queue, 'writeBuffer').mockImplementation(() => {})
    try {
      return await use(shared())
    } finally {
      write.mockRestore()
    }
  }

  test('a GPU that computes wrongly is refused, with what is wrong', async () => {
    const expected = await knownFrames()
    await expect(forgetting((kernels) => loadGpuBackend(files, kernels, expected))).rejects.toMatchObject({
      code: 'gpu-refused',
      message: expect.stringMatching(/computes wrongly: .* differ from the CPU's by .*backend 'cpu'/),
    })
  }, 300_000)

  test('auto passes over a GPU that computes wrongly, and says so', async () => {
    const warnings: Warning[] = []
    const backend = await forgetting((kernels) =>
      chooseBackend(
        files,
        { simd: fastest },
        (warning) => warnings.push(warning),
        async () => kernels,
      ),
    )
    expect(backend.report).toMatchObject({ name: 'cpu', reason: expect.stringContaining('computes wrongly') })
    expect(warnings).toMatchObject([{ code: 'gpu-refused' }])
    backend.dispose()
  }, 300_000)

  test('auto measures, and takes what is faster', async () => {
    const backend = await chooseBackend(
      files,
      { simd: fastest },
      () => expect.unreachable('a warning'),
      async () => shared(),
    )
    const { name, frameMs } = backend.report
    expect(frameMs?.cpu).toBeGreaterThan(0)
    expect(frameMs?.gpu).toBeGreaterThan(0)
    expect(frameMs?.hybrid).toBeGreaterThan(0)
    expect(frameMs?.[name]).toBe(Math.min(...Object.values(frameMs!)))
    backend.dispose()
  }, 300_000)

  test('a device that is lost is replaced: whoever speaks goes on, and whoever comes speaks', async () => {
    const expected = await knownFrames()
    const inLanes = lasting((onto) => loadGpuBackend(...onto, expected, 2))
    const hybrid = lasting((onto) => loadHybridBackend(...onto, expected, { simd: fastest }))
    const lanes = await inLanes
    const codecOnly = await hybrid
    const speakOn = (backend: LastingBackend, seed: number, onFrame = (): void => {}) =>
      speak({ createSource: () => new ResumingSource(backend), flowLm: tts.flowLm }, seed, 5, onFrame)
    const before = [await speakOn(lanes, 1), await speakOn(lanes, 2), await speakOn(codecOnly, 3)]
    const lost = gpu.device as GPUDevice
    const another = createGpuKernels()
    let heard = 0
    const loseLater = (): void => {
      if (++heard !== 2) return
      // One listener is in the middle, others are at the beginning, in the other lane, and waiting for one.
      lost.destroy()
      given.kernels = another
    }
    const after = await Promise.all([
      speakOn(lanes, 1, loseLater),
      speakOn(lanes, 2),
      speakOn(codecOnly, 3),
      speakOn(lanes, 1),
    ])
    for (const [index, samples] of [...before, before[0]!].entries()) {
      expect(sameBits(after[index]!, samples)).toBe(true)
    }
    expect(lanes.latest.report).toMatchObject({ name: 'gpu', adapter: tts.backend.adapter })
    expect(codecOnly.latest.report.name).toBe('hybrid')
    lanes.dispose()
    codecOnly.dispose()
    // This one was lost while nobody spoke.
    const { flowLm } = tts
    const { pcm } = await tts.speak('Yes.', { voice: tinyVoice, eosThreshold: -1000 })
    expect(sameBits(pcm, yes)).toBe(true)
    expect(tts.flowLm).not.toBe(flowLm)
    const { device } = await another
    expect(device).not.toBe(lost)
    expect(opened.at(-1)!.device).toBe(device)
  }, 600_000)
})

describeOnGpu('the embedded model', () => {
  test('speaks on the GPU as it does on the CPU', async () => {
    const options = { seed: 5, framesAfterEos: 2 }
    const cpu = await PocketTts.load(mini, { backend: 'cpu', simd: fastest })
    const gpu = await PocketTts.load(mini, { backend: 'gpu', simd: fastest })
    const expected = await cpu.speak('Yes.', options)
    const found = await gpu.speak('Yes.', options)
    expect(found.chunks).toEqual(expected.chunks)
    // Rounding grows from frame to frame, as each starts from the one before.
    expect(relativeL2(found.pcm, expected.pcm)).toBeLessThan(0.1)
    cpu.dispose()
    gpu.dispose()
  }, 600_000)
})

describeOnGpu('auto', () => {
  test('takes the CPU where the GPU is software, and says so', async () => {
    const tts = await PocketTts.load(tinyFolder, { simd: fastest })
    const { name, adapter, reason } = tts.backend
    if (/swiftshader|llvmpipe/i.test(adapter ?? '')) {
      expect(name).toBe('cpu')
      expect(reason).toMatch(/computes on the CPU/)
      expect(tts.warnings).toEqual([])
    }
    tts.dispose()
  }, 300_000)
})
