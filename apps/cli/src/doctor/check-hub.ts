import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { checkpoints, type Hub, openHub, publishedRepositories } from '@pocket/tts'
import { formatBytes } from '../format-bytes.ts'
import { describeKept, keptOf } from '../models/checkpoint-files.ts'
import { bytesOf } from '../models/contents.ts'
import { table } from '../models/table.ts'
import type { Check } from './finding.ts'

export const checkHub: Check = async () => {
  const { endpoint, offline } = await openHub().report([])
  const line = offline ? 'offline: nothing is downloaded' : 'online: what is missing is downloaded'
  return { state: 'fine', lines: [`${endpoint}, ${line}`], facts: { endpoint, offline } }
}

/** That there is one, and where it comes from; never the token. */
export const checkToken: Check = async () => {
  const { tokenSource } = await openHub().report([])
  const line = tokenSource === undefined ? 'none: models come without voice cloning' : `from ${tokenSource}`
  return { state: 'fine', lines: [line], facts: { present: tokenSource !== undefined, from: tokenSource } }
}

export const checkCache: Check = async () => {
  const hub = openHub()
  const { cache = '', bytes, files, incompleteBytes } = await hub.report(publishedRepositories)
  const free = await freeBytes(cache)
  const models = await cachedModels(hub)
  const contents = table(models.map(({ id, bytes, kept }) => [`  ${id}`, `${formatBytes(bytes)}: ${kept}`]))
  const lines = [
    `${cache}: ${formatBytes(bytes)} of published models, ${formatBytes(free)} free`,
    ...contents.split('\n').filter(Boolean),
  ]
  if (incompleteBytes > 0) lines.push(`${formatBytes(incompleteBytes)} of downloads that were broken off`)
  return { state: 'fine', lines, facts: { folder: cache, files, bytes, incompleteBytes, free, models } }
}

const cachedModels = async (hub: Hub): Promise<{ id: string; bytes: number; kept: string }[]> => {
  const cached = await hub.list(publishedRepositories)
  return checkpoints.flatMap((checkpoint) => {
    const kept = keptOf(checkpoint, cached)
    if (kept.length === 0) return []
    return [{ id: checkpoint.id, bytes: bytesOf(kept.map(({ file }) => file)), kept: describeKept(kept) }]
  })
}

/** What may still be written into the folder. Throws where nothing may be. */
const freeBytes = async (folder: string): Promise<number> => {
  try {
    const existing = await nearestExisting(folder)
    await access(existing, constants.W_OK)
    const { bavail, bsize } = await statfs(existing)
    return bavail * bsize
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`nothing can be kept in ${folder}: ${reason}; set HF_HUB_CACHE to another folder`, {
      cause,
    })
  }
}

/** The folder itself, or where it would be made. */
const nearestExisting = async (folder: string): Promise<string> => {
  try {
    await access(folder)
    return folder
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const parent = dirname(folder)
    if (!isMissing || parent === folder) throw error
    return nearestExisting(parent)
  }
}
