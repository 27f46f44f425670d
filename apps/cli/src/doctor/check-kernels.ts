import { availableParallelism } from 'node:os'
import { createCpuKernels, type SimdLevel } from '@pocket/kernels-cpu'
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

export const checkWebGpu: Check = async () => ({
  state: 'fine',
  lines: ['not looked for: this version computes on the CPU'],
  facts: { lookedFor: false },
})
