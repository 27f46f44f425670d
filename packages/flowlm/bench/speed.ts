/**
 * Milliseconds of everything that happens while speaking, for the embedded model and the real geometry: `pnpm build`,
 * then `pnpm bench [scalar|simd|relaxed]`, prints the table of the README.
 */
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { FlowLm } from '@pocket/flowlm'
import { createCpuKernels, type SimdLevel } from '@pocket/kernels-cpu'
import { mini } from '@pocket/mini'
import { SafeTensors } from '@pocket/safetensors'
import { type FullWeight, fullWeights, writeTensorFile } from '@tooling/fixtures'

function* fullFlowLmWeights(): Generator<FullWeight> {
  for (const weight of fullWeights()) if (weight.name.startsWith('flow_lm.')) yield weight
}

const models: Record<string, () => Promise<Uint8Array>> = {
  'embedded model, d 256, 6 layers': () => readFile(mini.model),
  'english_2026-04, d 1024, 6 layers': async () => writeTensorFile(fullFlowLmWeights()),
}

/** A voice of ten seconds, and a text of the longest usual chunk. */
const voicePositions = 125
const tokens = Array.from({ length: 50 }, (_, i) => 10 * i + 3)

const milliseconds = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The fastest of several runs: what other programs took of the machine is not ours to report. */
const best = async (runs: number, work: () => Promise<number>): Promise<number> => {
  let fastest = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run++) fastest = Math.min(fastest, await work())
  return fastest
}

const print = (...cells: string[]): void => console.log(`| ${cells.join(' | ')} |`)

const measure = async (name: string, file: Uint8Array, simd: SimdLevel | 'auto'): Promise<void> => {
  const kernels = await createCpuKernels({ simd, threads: 1 })
  const runs = kernels.simd === 'scalar' ? 3 : 60
  let flowLm!: FlowLm
  const load = await milliseconds(async () => {
    flowLm = await FlowLm.load(SafeTensors.fromBytes(file), kernels)
  })
  const { dModel, latentDim } = flowLm.config
  const latent = new Float32Array(latentDim).fill(0.5)
  const rows = Float32Array.from({ length: voicePositions * dModel }, (_, i) => Math.sin(i))
  const prompted = flowLm.createState()
  await flowLm.promptRows(rows, voicePositions, prompted)
  const voice = await prompted.snapshot()

  const state = flowLm.createState({ adopt: voice })
  await flowLm.promptTokens(tokens, state)
  const promptTime = async (): Promise<number> => {
    const fresh = flowLm.createState({ adopt: voice })
    const time = await milliseconds(() => flowLm.promptTokens(tokens, fresh))
    fresh.dispose()
    return time
  }
  const sampleTime = (steps: number): Promise<number> =>
    milliseconds(() => flowLm.sampleLatent(rows.subarray(0, dModel), latent, steps))
  const timings = [
    await best(runs, () => milliseconds(() => flowLm.step(latent, state))),
    await best(runs, () => sampleTime(1)),
    await best(runs, () => sampleTime(4)),
    await best(Math.min(runs, 8), promptTime),
    load,
  ]
  print(name, kernels.name, ...timings.map((time) => time.toFixed(time < 10 ? 2 : 0)))
  kernels.dispose()
}

const level = (process.argv[2] ?? 'auto') as SimdLevel | 'auto'
print('model', 'executor', 'step', 'flow head, 1 step', '4 steps', 'prompt of 50 tokens', 'load')
print('---', '---', '---:', '---:', '---:', '---:', '---:')
for (const [name, read] of Object.entries(models)) await measure(name, await read(), level)
