import { type CachedFile, formatHubLocation, openHub, type Verdict } from '@pocket/tts'
import { FoundWrong } from '../errors.ts'
import { formatBytes } from '../format-bytes.ts'
import { type Io, write } from '../io.ts'
import { createProgress } from '../progress.ts'
import { bytesOf } from './contents.ts'
import { selectFiles } from './select-files.ts'

/** `pocket models verify`. Throws FoundWrong where a file is damaged. */
export const verifyModels = async (
  target: string | undefined,
  { quiet }: { quiet?: boolean },
  io: Io,
): Promise<void> => {
  const hub = openHub()
  const { label, files } = await selectFiles(target, hub)
  const say = async (text: string): Promise<void> => {
    if (!quiet) await write(io.stdout, text)
  }
  if (files.length === 0) return say(`nothing of ${label} is on this machine\n`)
  const progress = createProgress(io.stderr, !quiet)
  const damaged: string[] = []
  try {
    for (const [index, file] of files.entries()) {
      const place = formatHubLocation(file.location)
      progress.working(`Verifying ${index + 1} of ${files.length}: ${place}`)
      const verdict = await hub.verify(file, { signal: io.signal })
      progress.clear()
      await say(`${describe(verdict, file)}\n`)
      if (verdict.state === 'damaged') damaged.push(place)
    }
  } finally {
    progress.clear()
  }
  if (damaged.length === 0) return say(`${countOf(files.length)}, ${formatBytes(bytesOf(files))}\n`)
  const remedy = damaged.map((place) => `  pocket models remove ${place}`).join('\n')
  throw new FoundWrong(
    `${damaged.length} of ${countOf(files.length)} damaged; remove what is, and it is fetched anew:\n${remedy}`,
  )
}

const describe = (verdict: Verdict, file: CachedFile): string => {
  const place = formatHubLocation(file.location)
  switch (verdict.state) {
    case 'sound':
      return `sound: ${place}, ${formatBytes(file.size)}`
    case 'damaged':
      return `damaged: ${place}, hash ${verdict.found}, expected ${verdict.expected}`
    case 'unverifiable':
      return `unknown: ${place}; the cache does not say what it should hash to`
  }
}

const countOf = (count: number): string => (count === 1 ? '1 file' : `${count} files`)
