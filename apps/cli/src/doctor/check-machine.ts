import { arch, availableParallelism, cpus, release, totalmem } from 'node:os'
import process from 'node:process'
import manifest from '../../package.json' with { type: 'json' }
import { formatBytes } from '../format-bytes.ts'
import type { Check } from './finding.ts'

/** Whether a version such as 22.18.0 is at least what `>=22.18` asks for. */
const isAtLeast = (version: string, range: string): boolean => {
  const wanted = range.replace('>=', '').split('.').map(Number)
  const found = version.split('.').map(Number)
  const differing = wanted.findIndex((part, index) => part !== found[index])
  return differing < 0 || (found[differing] ?? 0) > (wanted[differing] ?? 0)
}

export const checkNode: Check = async () => {
  const { node } = process.versions
  const wanted = manifest.engines.node
  const facts = { version: node, wanted }
  if (isAtLeast(node, wanted)) return { state: 'fine', lines: [node], facts }
  return { state: 'broken', lines: [`${node}; Pocket needs ${wanted}`], facts }
}

export const checkMachine: Check = async () => {
  const cpu = cpus()[0]?.model.trim() || 'an unknown CPU'
  const cores = availableParallelism()
  const memory = totalmem()
  const system = `${process.platform} ${release()} on ${arch()}`
  return {
    state: 'fine',
    lines: [
      `${system}: ${cpu}, ${cores === 1 ? '1 core' : `${cores} cores`}, ${formatBytes(memory)} of memory`,
    ],
    facts: { platform: process.platform, release: release(), arch: arch(), cpu, cores, memory },
  }
}
