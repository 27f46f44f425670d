/**
 * Measures whole frames, from a latent and noise to 80 ms of sound, at full size with generated weights: on the GPU with
 * one to eight frames a submission, one to three submissions under way and one to eight lanes, and on the CPU of the
 * same machine. `node bench/frames.ts [quick] [sweep] [tune] [formats]`; where there is no network, bundle it first (README.md).
 */
import process from 'node:process'
import { FlowLm, type KvSnapshot } from '@pocket/flowlm'
import { createCpuKernels } from '@pocket/kernels-cpu'
import {
  createGpuKernels,
  type DispatchTime,
  type GpuKernels,
  type GpuStream,
  type TuningTrial,
} from '@pocket/kernels-wgsl'
import { MimiCodec } from '@pocket/mimi'
import { type Kernels, record } from '@pocket/nn'
import { bf16ToF32, SafeTensors } from '@pocket/safetensors'
import { fullWeights, noise, relativeL2, writeTensorFile } from '@tooling/fixtures'
import { create } from 'webgpu'

// Dawn rounds times to 65 µs unless it is told not to.
const dawn = create(['disable-dawn-features=timestamp_quantization'])
const adapterOf = async (): Promise<GPUAdapter> => {
  const adapter = await dawn.requestAdapter({ powerPreference: 'high-performance' })
  if (!adapter) throw new Error('there is no GPU here')
  return adapter
}

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** A voice of ten seconds and a sentence: what a state holds before the first frame. */
const heard = 175
const frames = Number(process.env.FRAMES ?? 96)

const weights = SafeTensors.fromBytes(writeTensorFile([...fullWeights()]))

const float16 = (): SafeTensors => {
  const tensors = [...fullWeights()].map(({ name, shape, bytes }) => {
    const values = new Float16Array(bf16ToF32(bytes))
    return { name, shape, dtype: 'F16' as const, bytes: new Uint8Array(values.buffer) }
  })
  return SafeTensors.fromBytes(writeTensorFile(tensors))
}

interface Model {
  readonly flowLm: FlowLm
  readonly codec: MimiCodec
}

const load = async (
  kernels: Kernels,
  {
    file = weights,
    precision = 'stored',
  }: { file?: SafeTensors; precision?: 'stored' | 'f32' | 'int8' } = {},
): Promise<Model> => ({
  flowLm: await FlowLm.load(file, kernels, { precision }),
  codec: await MimiCodec.load(file, kernels),
})

const voiceOf = ({ flowLm }: Model): KvSnapshot => {
  const { heads, headDim, layers } = flowLm.config
  const rows = (seed: number): Float32Array => noise(heard * heads * headDim, seed)
  return {
    positions: heard,
    heads,
    headDim,
    layers: Array.from({ length: layers }, (_, layer) => ({ k: rows(2 * layer), v: rows(2 * layer + 1) })),
  }
}

const scaledNoise = (length: number, frame: number): Float32Array =>
  noise(length, 1000 + frame).map((value) => value * 0.8)

const recordFrame = ({ flowLm, codec }: Model, state: ReturnType<FlowLm['createState']>) => {
  const pass = flowLm.framePass(state, 1)
  const { latentDim } = codec.config
  const decoder = codec.createDecoderPass()
  const recording = record('frame', (ops) => {
    const latent = ops.input('latent', 1, latentDim)
    const { next, eos, denormalized } = pass.describe(ops, latent, ops.input('noise', 1, latentDim))
    ops.tap('next', next)
    ops.tap('eos', eos)
    ops.tap('pcm', decoder.describe(ops, denormalized))
  })
  return { recording, decoder, initial: { ...pass.constants, latent: pass.beginning } }
}

interface Opened {
  readonly stream: GpuStream
  readonly lanes: number
  dispose(): void
}

const openStream = (kernels: GpuKernels, model: Model): Opened => {
  const { lanes } = kernels
  const state = model.flowLm.createState(
    lanes === 1 ? { adopt: voiceOf(model), capacity: heard + 4 * frames } : { capacity: heard + 4 * frames },
  )
  const { recording, decoder, initial } = recordFrame(model, state)
  const stream = kernels.stream(recording, {
    feedback: { latent: 'next' },
    inputs: ['noise'],
    outputs: ['next', 'eos', 'pcm'],
  })
  for (const [name, values] of Object.entries(initial)) {
    for (let lane = 0; lane < lanes; lane++) stream.write(name, values, lane)
  }
  const dispose = (): void => {
    for (const part of [stream, decoder, state]) part.dispose()
  }
  return { stream, lanes, dispose }
}

const rowsOf = ({ latentDim }: { latentDim: number }, lanes: number, first: number, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const row = scaledNoise(latentDim, first + index)
    const all = new Float32Array(lanes * row.length)
    for (let lane = 0; lane < lanes; lane++) all.set(row, lane * row.length)
    return { noise: all }
  })

/** Milliseconds a frame over `frames` frames, `perSubmit` in a submission and `inFlight` submissions under way. */
const pace = async (
  { stream, lanes }: Opened,
  model: Model,
  perSubmit: number,
  inFlight: number,
): Promise<{ milliseconds: number; pcm: Float32Array[] }> => {
  const pcm: Float32Array[] = []
  const underWay: ReturnType<GpuStream['submit']>[] = []
  const begin = performance.now()
  for (let frame = 0; frame < frames || underWay.length > 0; ) {
    while (frame < frames && underWay.length < inFlight) {
      underWay.push(stream.submit(rowsOf(model.codec.config, lanes, frame, perSubmit)))
      frame += perSubmit
    }
    for (const { pcm: samples } of (await underWay.shift()) ?? []) if (samples) pcm.push(samples)
  }
  return { milliseconds: (performance.now() - begin) / frames, pcm }
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

type Times = Map<string, { count: number; microseconds: number }>

const timesOf = async (stream: GpuStream): Promise<Times> => {
  const rounds: DispatchTime[][] = []
  for (let round = 0; round < 7; round++) rounds.push(await stream.profile())
  const byName: Times = new Map()
  rounds[0]?.forEach(({ name }, index) => {
    const entry = byName.get(name) ?? { count: 0, microseconds: 0 }
    entry.count++
    entry.microseconds += median(rounds.map((round) => round[index]?.microseconds ?? 0))
    byName.set(name, entry)
  })
  return byName
}

const table = (byName: Times): void => {
  const rows = [...byName].sort(([, a], [, b]) => b.microseconds - a.microseconds)
  const total = rows.reduce((sum, [, { microseconds }]) => sum + microseconds, 0)
  print(`each dispatch timed alone: ${total.toFixed(0)} µs a frame`)
  for (const [name, { count, microseconds }] of rows) {
    print(`  ${microseconds.toFixed(1).padStart(8)} µs  ${String(count).padStart(3)} ×  ${name}`)
  }
}

const measureGpu = async (lanes: number, options: { profile: boolean; all: boolean }) => {
  const kernels = await createGpuKernels({ adapter: await adapterOf(), lanes })
  const begin = performance.now()
  const model = await load(kernels)
  let opened = openStream(kernels, model)
  await opened.stream.ready()
  await opened.stream.submit(rowsOf(model.codec.config, lanes, 0, 1))
  print(
    `\n${(kernels.device as GPUDevice).adapterInfo.description} (${kernels.name}), lanes ${lanes}: ${opened.stream.dispatches} dispatches a frame, ` +
      `${(kernels.bytes / 1e6).toFixed(0)} MB, ready after ${(performance.now() - begin).toFixed(0)} ms`,
  )
  // A GPU that has rested takes a while to reach its full clock.
  for (let round = 0; round < 12; round++) {
    opened.dispose()
    opened = openStream(kernels, model)
    await pace(opened, model, 4, 3)
  }
  if (options.profile) table(await timesOf(opened.stream))
  const choices = options.all
    ? [1, 2, 3].flatMap((inFlight) => [1, 2, 4, 8].map((perSubmit) => [perSubmit, inFlight] as const))
    : ([
        [1, 1],
        [1, 3],
        [4, 2],
        [8, 2],
      ] as const)
  let reference: Float32Array[] | undefined
  for (const [perSubmit, inFlight] of choices) {
    opened.dispose()
    opened = openStream(kernels, model)
    const { milliseconds, pcm } = await pace(opened, model, perSubmit, inFlight)
    reference ??= pcm
    const same = pcm.every((samples, frame) => samples.every((value, i) => value === reference?.[frame]?.[i]))
    print(
      `  k ${perSubmit}, in flight ${inFlight}: ${milliseconds.toFixed(3)} ms a frame, ` +
        `${((80 * lanes) / milliseconds).toFixed(0)} × real time${same ? '' : ', NOT the same bits'}`,
    )
  }
  if (lanes === 1) {
    const sound = await firstSound(model, () => opened.stream.submit(rowsOf(model.codec.config, 1, 0, 1)))
    print(`  first sound, from a voice in memory and 50 tokens: ${sound.toFixed(1)} ms`)
  }
  kernels.dispose()
  return { pcm: reference ?? [] }
}

const seconds = (begin: number): string => `${((performance.now() - begin) / 1000).toFixed(1)} s`

/** Frames in step and under way, in milliseconds. */
const paces = async (kernels: GpuKernels, model: Model): Promise<string> => {
  const cells: string[] = []
  for (const [perSubmit, inFlight] of [
    [1, 1],
    [1, 3],
    [4, 2],
  ] as const) {
    const times: number[] = []
    for (let round = 0; round < 5; round++) {
      const opened = openStream(kernels, model)
      times.push((await pace(opened, model, perSubmit, inFlight)).milliseconds)
      opened.dispose()
    }
    cells.push(median(times).toFixed(3))
  }
  return cells.join(' / ')
}

const sumOf = (times: Times): string =>
  [...times.values()].reduce((sum, { microseconds }) => sum + microseconds, 0).toFixed(0)

/** What the tuner finds, within its usual time and with all the time it wants. */
const measureTuning = async (lanes: number): Promise<void> => {
  const kernels = await createGpuKernels({ adapter: await adapterOf(), lanes })
  const model = await load(kernels)
  const trial = (): TuningTrial => {
    const { stream, dispose } = openStream(kernels, model)
    const rows = rowsOf(model.codec.config, lanes, 0, 4)
    return {
      ready: () => stream.ready(),
      run: async () => (await stream.submit(rows)).flatMap((outputs) => Object.values(outputs)),
      dispose,
    }
  }
  const report = async (): Promise<string> => {
    const { stream, dispose } = openStream(kernels, model)
    await stream.submit(rowsOf(model.codec.config, lanes, 0, 1))
    const times = `${await paces(kernels, model)} ms a frame, kernels ${sumOf(await timesOf(stream))} µs`
    dispose()
    return `${JSON.stringify(kernels.tuning)}: ${times}`
  }
  print(`\ntuning, lanes ${lanes} (k 1 in flight 1 / 1 in flight 3 / 4 in flight 2)`)
  print(`  default ${await report()}`)
  for (const options of [{}, { bits: 'changed', budget: 1e5 }] as const) {
    const begin = performance.now()
    const { tried } = await kernels.tune(trial, options)
    print(`  ${JSON.stringify(options)}: ${seconds(begin)}`)
    for (const { tuning, milliseconds, bestMilliseconds, sameBits } of tried) {
      const gain =
        milliseconds && bestMilliseconds
          ? `${(100 * (1 - milliseconds / bestMilliseconds)).toFixed(1)} %`
          : '—'
      print(`    ${gain.padStart(7)} ${sameBits ? 'same bits ' : 'other bits'} ${JSON.stringify(tuning)}`)
    }
    print(`  chosen ${await report()}`)
  }
  kernels.dispose()
}

/** The language model's weights as they may be kept; the codec's are as stored. */
const measureFormats = async (): Promise<void> => {
  print('\nweights (k 1 in flight 1 / 1 in flight 3 / 4 in flight 2)')
  for (const [name, options] of [
    ['BF16', {}],
    ['F16', { file: float16() }],
    ['F32', { precision: 'f32' }],
    ['int8', { precision: 'int8' }],
    ['BF16 again', {}],
  ] as const) {
    const kernels = await createGpuKernels({ adapter: await adapterOf() })
    const model = await load(kernels, options)
    const bytes = kernels.bytes
    const { stream } = openStream(kernels, model)
    await stream.submit(rowsOf(model.codec.config, 1, 0, 1))
    // A GPU that has rested takes a while to reach its full clock.
    await paces(kernels, model)
    const times = await paces(kernels, model)
    print(
      `  ${name}: ${(bytes / 1e6).toFixed(0)} MB, ${times} ms a frame, kernels ${sumOf(await timesOf(stream))} µs`,
    )
    kernels.dispose()
  }
}

/** Every kernel under several cuts of the work: microseconds a dispatch. */
const sweep = async (lanes: number): Promise<void> => {
  const columns: { title: string; times: Times }[] = []
  for (const threads of [1 << 15, 1 << 16, 1 << 17, 1 << 18]) {
    for (const unroll of [2, 4]) {
      const kernels = await createGpuKernels({
        adapter: await adapterOf(),
        lanes,
        tuning: { threads, unroll },
      })
      const { stream } = openStream(kernels, await load(kernels))
      await stream.submit(rowsOf({ latentDim: 32 }, lanes, 0, 1))
      columns.push({ title: `${threads >> 10}k/${unroll}`, times: await timesOf(stream) })
      kernels.dispose()
    }
  }
  print(`\nlanes ${lanes}, µs a dispatch by threads / unroll: ${columns.map(({ title }) => title).join(' ')}`)
  for (const name of columns[0]?.times.keys() ?? []) {
    const cells = columns.map(({ times }) => {
      const { count = 1, microseconds = 0 } = times.get(name) ?? {}
      return (microseconds / count).toFixed(1).padStart(6)
    })
    print(`${cells.join('')}  ${name}`)
  }
  const totals = columns.map(({ times }) =>
    [...times.values()]
      .reduce((sum, { microseconds }) => sum + microseconds, 0)
      .toFixed(0)
      .padStart(6),
  )
  print(`${totals.join('')}  all`)
}

/** From the text to the first sound: a prompt of 50 tokens after the voice, and one frame; the second time around. */
const firstSound = async (model: Model, step: () => Promise<unknown>): Promise<number> => {
  const tokens = Array.from({ length: 50 }, (_, index) => 7 * index)
  let milliseconds = 0
  for (let round = 0; round < 4; round++) {
    const begin = performance.now()
    const state = model.flowLm.createState({ adopt: voiceOf(model), capacity: heard + 300 })
    await model.flowLm.promptTokens(tokens, state)
    await model.flowLm.step(null, state)
    await step()
    milliseconds = performance.now() - begin
    state.dispose()
  }
  return milliseconds
}

const measureCpu = async (count: number, threads: number) => {
  const kernels = await createCpuKernels({ threads })
  const model = await load(kernels)
  const state = model.flowLm.createState({ adopt: voiceOf(model), capacity: heard + count })
  const decoder = model.codec.createDecoder()
  let previous: Float32Array | null = null
  const pcm: Float32Array[] = []
  const times: number[] = []
  for (let frame = 0; frame < count; frame++) {
    const begin = performance.now()
    const { hidden } = await model.flowLm.step(previous, state)
    previous = await model.flowLm.sampleLatent(hidden, scaledNoise(32, frame), 1)
    pcm.push(await decoder.decode(model.flowLm.denormalize(previous)))
    times.push(performance.now() - begin)
  }
  const milliseconds = median(times.slice(4))
  print(
    `\nCPU (${kernels.name}, threads: ${kernels.threads}): ${milliseconds.toFixed(2)} ms a frame, ${(80 / milliseconds).toFixed(1)} × real time`,
  )
  const sound = await firstSound(model, () => decoder.decode(noise(32, 1)))
  print(`  first sound: ${sound.toFixed(0)} ms`)
  kernels.dispose()
  return pcm
}

const quick = process.argv.includes('quick')
const gpu = await measureGpu(1, { profile: true, all: !quick })
const furtherLanes = (process.env.LANES ?? '4 8').split(' ').map(Number).filter(Boolean)
for (const lanes of furtherLanes) await measureGpu(lanes, { profile: lanes === 8, all: false })
if (process.argv.includes('tune')) for (const lanes of [1, 8]) await measureTuning(lanes)
if (process.argv.includes('formats')) await measureFormats()
if (process.argv.includes('sweep')) for (const lanes of [1, 8]) await sweep(lanes)
const cpu = await measureCpu(quick ? 12 : 40, 1)
if (!quick) for (const threads of [2, 4, 8]) await measureCpu(40, threads)
const differences = cpu
  .slice(0, 12)
  .map((samples, frame) => relativeL2(gpu.pcm[frame] ?? samples.map(() => 0), samples))
print(
  `\nrelative difference of GPU and CPU, frames 0 to 11: ${differences.map((d) => d.toExponential(1)).join(' ')}`,
)
process.exit(0)
