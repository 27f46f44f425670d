import manifest from '../../package.json' with { type: 'json' }
import { FoundWrong } from '../errors.ts'
import { type Io, write } from '../io.ts'
import { checkCache, checkHub, checkToken } from './check-hub.ts'
import { checkKernels, checkThreads, checkWebGpu } from './check-kernels.ts'
import { checkMachine, checkNode } from './check-machine.ts'
import { checkModel } from './check-model.ts'
import type { Check, Finding } from './finding.ts'

const checks: Readonly<Record<string, Check>> = {
  node: checkNode,
  machine: checkMachine,
  kernels: checkKernels,
  threads: checkThreads,
  webgpu: checkWebGpu,
  hub: checkHub,
  token: checkToken,
  cache: checkCache,
  model: checkModel,
}

/** `pocket doctor`. Throws FoundWrong where something is broken. */
export const examine = async ({ json = false }: { json?: boolean }, io: Io): Promise<void> => {
  const findings: Record<string, Finding> = {}
  for (const [topic, check] of Object.entries(checks)) {
    const finding = await look(check, io.signal)
    findings[topic] = finding
    if (!json) await write(io.stdout, format(topic, finding))
  }
  const broken = Object.keys(findings).filter((topic) => findings[topic]?.state === 'broken')
  if (json) await write(io.stdout, toJson(findings, broken.length === 0))
  if (broken.length > 0) throw new FoundWrong(`something is broken: ${broken.join(', ')}`)
}

const look = async (check: Check, signal: AbortSignal): Promise<Finding> => {
  signal.throwIfAborted()
  try {
    return await check(signal)
  } catch (error) {
    signal.throwIfAborted()
    const message = error instanceof Error ? error.message : String(error)
    return { state: 'broken', lines: [message], facts: { error: message } }
  }
}

const topicWidth = Math.max(...Object.keys(checks).map((topic) => topic.length)) + 2

const format = (topic: string, { state, lines }: Finding): string => {
  const [first = '', ...rest] = lines
  const marked = state === 'broken' ? `BROKEN: ${first}` : first
  return [topic.padEnd(topicWidth) + marked, ...rest.map((line) => ' '.repeat(topicWidth) + line), ''].join(
    '\n',
  )
}

const toJson = (findings: Record<string, Finding>, ok: boolean): string => {
  const reports = Object.entries(findings).map(([topic, { state, facts }]) => [topic, { state, ...facts }])
  const report = { ok, version: manifest.version, ...Object.fromEntries(reports) }
  return `${JSON.stringify(report, null, 2)}\n`
}
