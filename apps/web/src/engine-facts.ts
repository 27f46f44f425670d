import type { BackendReport, SpeechEngine } from '@pocket/tts'
import { labels } from './labels.ts'
import type { EngineSettings } from './settings.ts'

const levels = { relaxed: 'relaxed SIMD', simd: 'SIMD', scalar: 'no SIMD' }

/** The executors in use. */
export const describeBackend = ({ backend, threads }: SpeechEngine): string => {
  const { name, simd = 'scalar', adapter } = backend
  const gpu = `WebGPU (${adapter})`
  if (name === 'gpu') return gpu
  const kernels = simd === 'scalar' ? 'plain JavaScript' : 'WebAssembly'
  const cpu = `${kernels}, ${levels[simd]}, ${threads}\u00a0thread${threads === 1 ? '' : 's'}`
  return name === 'hybrid' ? `${cpu}; the codec on ${gpu}` : cpu
}

/** Which GPU there is, and what came of it. */
export const describeGpu = ({ name, adapter, reason, frameMs = {} }: BackendReport): string => {
  const measured = Object.entries(frameMs).map(([backend, ms]) => `${backend} ${ms.toFixed(1)} ms`)
  const times = measured.length === 0 ? '' : ` (a frame when it was tried: ${measured.join(', ')})`
  if (name !== 'cpu') return `${adapter}${times}`
  if (reason === undefined) return 'not asked'
  return `${adapter ? `${adapter}, not used: ` : 'not used: '}${reason}${times}`
}

/** How both networks keep their weights. */
export const describePrecision = ({ precision, codecPrecision }: EngineSettings): string => {
  const [model, codec] = [labels.precision[precision], labels.codecPrecision[codecPrecision]]
  return `language model: ${model.toLowerCase()}; codec: ${codec.toLowerCase()}`
}
