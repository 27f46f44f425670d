import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { createCpuKernels, probeSimd } from '@pocket/kernels-cpu'
import { readStream } from './read-stream.ts'
import {
  backboneAttention,
  backbonePrompt,
  backboneStep,
  codecAttention,
  codecLayers,
  codecProducts,
  codecWithActivations,
  type Workload,
} from './workloads.ts'

/**
 * Times the kernels at the sizes of the real model, one thread, and prints a Markdown table. Times are CPU time, which
 * is what passes on an idle machine and leaves out what others take on a busy one. All levels of one workload take
 * turns, so that contention for memory and caches meets them all. A substring as argument selects rows; `layer` those of the
 * codec's layers, each by itself.
 */

const workloads: Workload[] = [
  backboneStep('BF16'),
  backboneStep('int8'),
  backboneStep('F32'),
  backbonePrompt(50, 'BF16'),
  backbonePrompt(50, 'int8'),
  backbonePrompt(50, 'F32'),
  codecProducts('BF16'),
  codecProducts('F32'),
  codecProducts('int16'),
  codecWithActivations('F32'),
  backboneAttention(400),
  codecAttention(),
]

const layers = [...codecLayers('BF16'), ...codecLayers('int16')]

const secondsEach = 3

interface Timing {
  readonly best: number
  readonly median: number
}

const time = (runs: (() => void)[]): Timing[] => {
  const samples = runs.map((): number[] => [])
  const end = performance.now() + secondsEach * 1000
  for (let round = 0; round < 5 || performance.now() < end; round++) {
    for (const [i, run] of runs.entries()) {
      const begin = process.cpuUsage()
      run()
      const { user, system } = process.cpuUsage(begin)
      samples[i]!.push((user + system) / 1000)
    }
  }
  return samples.map((all) => {
    // The first rounds run on code that is not optimised yet.
    const sorted = all.slice(2).sort((a, b) => a - b)
    return { best: sorted[0]!, median: sorted[sorted.length >> 1]! }
  })
}

const speed = ({ bytes, flops }: Workload, { best }: Timing): string => {
  const parts = []
  if (bytes) parts.push(`${(bytes / best / 1e6).toFixed(1)} GB/s`)
  if (flops) parts.push(`${(flops / best / 1e6).toFixed(1)} GF/s`)
  return parts.join(', ')
}

const levels = (['simd', 'relaxed'] as const).filter((level) => level === 'simd' || probeSimd() === 'relaxed')
const [, , wanted = ''] = process.argv
console.log('| workload | kernels | best ms | median ms | at best |\n| --- | --- | ---: | ---: | --- |')
const row = (name: string, kernels: string, timing: Timing, speed: string): void =>
  console.log(`| ${name} | ${kernels} | ${timing.best.toFixed(2)} | ${timing.median.toFixed(2)} | ${speed} |`)

const selected = wanted.includes('layer') ? layers : workloads
for (const workload of selected.filter(({ name }) => name.includes(wanted))) {
  const executors = await Promise.all(levels.map((simd) => createCpuKernels({ simd, threads: 1 })))
  const runs = executors.map((kernels) => workload.prepare(kernels))
  const readsOnce = workload.bytes !== undefined && workload.flops !== undefined
  if (readsOnce) runs.push(await readStream(workload.bytes!))
  const timings = time(runs)
  for (const [i, timing] of timings.entries()) {
    const isStream = i === levels.length
    const speedOf = isStream ? speed({ ...workload, flops: 0 }, timing) : speed(workload, timing)
    row(isStream ? 'only reading as many bytes' : workload.name, isStream ? '' : levels[i]!, timing, speedOf)
  }
  for (const kernels of executors) kernels.dispose()
}
