import { availableParallelism } from 'node:os'
import { createCpuKernels, type SimdLevel } from '@pocket/kernels-cpu'
import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'
import type { Check } from './finding.ts'

type Test = 'passed' | 'failed' | 'unavailable'

/** Levels that WebAssembly may have; each is compared with plain TypeScript before it may compute anything. */
const levels = ['relaxed', 'simd'] as const

export const checkKernels: Check = async () => {
  const tests = Object.fromEntries(
    await Promise.all(levels.map(async (level) => [level, await testLevel(level)] as const)),
  )
  const kernels = await createCpuKernels()
  kernels.dispose()
  const results = levels.map((level) => `${level} ${tests[level]?.result}`).join(', ')
  const facts = { simd: kernels.simd, selfTests: tests }
  const problems = Object.values(tests).flatMap(({ problem }) => problem ?? [])
  if (kernels.simd === 'scalar') problems.push('without SIMD speech is made some hundred times slower')
  const line = `${kernels.simd}; self-tests: ${results}`
  return { state: problems.length > 0 ? 'broken' : 'fine', lines: [line, ...problems], facts }
}

const testLevel = async (simd: SimdLevel): Promise<{ result: Test; problem?: string }> => {
  try {
    const kernels = await createCpuKernels({ simd })
    kernels.dispose()
    return { result: 'passed' }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'unavailable') return { result: 'unavailable' }
    return { result: 'failed', problem: error.message }
  }
}

export const checkThreads: Check = async () => {
  const available = availableParallelism()
  const kernels = await createCpuKernels()
  const { threads } = kernels
  kernels.dispose()
  return { state: 'fine', lines: [`${threads} used of ${available}`], facts: { used: threads, available } }
}

/** Loads the embedded model as `--backend auto` does, which tries the GPU and says what came of it. */
export const checkWebGpu: Check = async (signal) => {
  const tts = await PocketTts.load(mini, { signal })
  const { name, adapter, features = [], reason, frameMs } = tts.backend
  tts.dispose()
  const facts = { used: name !== 'cpu', backend: name, adapter, features, reason, frameMs }
  if (name === 'cpu') return { state: 'fine', lines: [`${adapter ?? 'none'}, not used: ${reason}`], facts }
  const whole = name === 'hybrid' ? ', with the language model on the CPU' : ''
  const speed = `${frameMs?.[name]?.toFixed(1)} ms a frame${whole}, the CPU alone ${frameMs?.cpu?.toFixed(1)}`
  return { state: 'fine', lines: [`${adapter}: right, and faster: ${speed}`, features.join(', ')], facts }
}
