import { formatHubLocation, type Hub, openHub, publishedRepositories } from '@pocket/tts'
import { confirm } from '../confirm.ts'
import { InputError } from '../errors.ts'
import { formatBytes } from '../format-bytes.ts'
import { type Io, write } from '../io.ts'
import { freedBytes } from './contents.ts'
import { selectFiles } from './select-files.ts'
import { table } from './table.ts'

interface RemoveFlags {
  readonly incomplete?: boolean
  readonly yes?: boolean
}

/** `pocket models remove` */
export const removeModels = async (target: string | undefined, flags: RemoveFlags, io: Io): Promise<void> => {
  const { incomplete = false, yes = false } = flags
  if (target === undefined && !incomplete) {
    throw new InputError(
      'name the model to remove, or give --incomplete; pocket models list shows what is here',
    )
  }
  const hub = openHub()
  if (target !== undefined) await removeFiles(target, hub, yes, io)
  if (incomplete) {
    const freed = await hub.removeIncomplete(publishedRepositories)
    await write(io.stdout, `${formatBytes(freed)} of downloads that were broken off are freed\n`)
  }
}

const removeFiles = async (target: string, hub: Hub, isSure: boolean, io: Io): Promise<void> => {
  const { label, files, all } = await selectFiles(target, hub)
  if (files.length === 0) return write(io.stdout, `nothing of ${label} is on this machine\n`)
  const rows = files.map(({ location, size }) => [`  ${formatHubLocation(location)}`, formatBytes(size)])
  await write(io.stdout, table(rows))
  const count = files.length === 1 ? '1 file' : `${files.length} files`
  const question = `Remove ${count} and free ${formatBytes(freedBytes(files, all))}?`
  if (!isSure && !(await confirm(question, io))) return write(io.stdout, 'nothing was removed\n')
  let freed = 0
  for (const file of files) freed += await hub.remove(file)
  await write(io.stdout, `${count} removed, ${formatBytes(freed)} freed\n`)
}
