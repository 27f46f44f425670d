import { type CachedFile, type Checkpoint, checkpoints, openHub, publishedRepositories } from '@pocket/tts'
import { formatBytes } from '../format-bytes.ts'
import { type Io, write } from '../io.ts'
import { describeKept, type Kept, keptOf } from './checkpoint-files.ts'
import { bytesOf } from './contents.ts'
import { table } from './table.ts'

interface Listed {
  readonly checkpoint: Checkpoint
  readonly kept: readonly Kept[]
  readonly bytes: number
}

/** `pocket models list` */
export const listModels = async ({ json = false }: { json?: boolean }, io: Io): Promise<void> => {
  const hub = openHub()
  const cached = await hub.list(publishedRepositories)
  const listed = checkpoints.map((checkpoint) => {
    const kept = keptOf(checkpoint, cached)
    return { checkpoint, kept, bytes: bytesOf(kept.map(({ file }) => file)) }
  })
  const report = await hub.report(publishedRepositories)
  if (json) {
    const { cache, incompleteBytes } = report
    const models = listed.map(toJson)
    await write(io.stdout, `${JSON.stringify({ cache, incompleteBytes, models }, null, 2)}\n`)
    return
  }
  await write(io.stdout, table([['model', 'language', 'layers', 'on this machine'], ...listed.map(toRow)]))
  const lines = [
    `${report.cache}: ${formatBytes(report.bytes)}`,
    describeOthers(cached, listed),
    report.incompleteBytes > 0 &&
      `${formatBytes(report.incompleteBytes)} of downloads that were broken off; the next one goes on from there`,
  ]
  await write(io.stdout, `\n${lines.filter(Boolean).join('\n')}\n`)
}

const toRow = ({ checkpoint, kept, bytes }: Listed): string[] => {
  const { id, aliases, layers } = checkpoint
  return [
    [id, ...aliases].join(', '),
    languageOf(checkpoint),
    String(layers),
    kept.length > 0 ? `${formatBytes(bytes)}: ${describeKept(kept)}` : '-',
  ]
}

const toJson = ({ checkpoint, kept, bytes }: Listed): object => {
  const { id, aliases, language, layers, defaultVoice } = checkpoint
  const files = kept.map(({ file, ...about }) => ({ ...about, bytes: file.size }))
  return { id, aliases, language, layers, defaultVoice, bytes, files }
}

const languageOf = ({ language }: Checkpoint): string =>
  new Intl.DisplayNames('en', { type: 'language' }).of(language) ?? language

/** Other revisions, which Python tools or earlier versions have fetched. */
const describeOthers = (cached: readonly CachedFile[], listed: readonly Listed[]): string => {
  const known = new Set(listed.flatMap(({ kept }) => kept.map(({ file }) => String(file.file))))
  const others = cached.filter(({ file }) => !known.has(String(file)))
  if (others.length === 0) return ''
  const files = others.length === 1 ? '1 file' : `${others.length} files`
  return `of that, ${formatBytes(bytesOf(others))} in ${files} of other revisions of the same repositories`
}
