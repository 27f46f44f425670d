import {
  type CachedFile,
  findCheckpoint,
  type Hub,
  parseHubLocation,
  publishedRepositories,
} from '@pocket/tts'
import { keptOf } from './checkpoint-files.ts'

/** What a command is to look at. */
export interface Selection {
  /** How messages call it. */
  readonly label: string
  readonly files: readonly CachedFile[]
  /** All files of the same repositories. */
  readonly all: readonly CachedFile[]
}

/**
 * The cached files of a published model, of a repository, folder or file on the hub (`hf://…`), or, where nothing is
 * named, of all published models. Throws PocketTtsError `unknown-model` or `invalid-option`.
 */
export const selectFiles = async (target: string | undefined, hub: Hub): Promise<Selection> => {
  if (target?.startsWith('hf://')) return selectPlace(target, hub)
  const checkpoint = target === undefined ? undefined : findCheckpoint(target)
  const all = await hub.list(publishedRepositories)
  if (!checkpoint) return { label: 'the published models', files: all, all }
  return { label: checkpoint.id, files: keptOf(checkpoint, all).map(({ file }) => file), all }
}

const selectPlace = async (place: string, hub: Hub): Promise<Selection> => {
  const { owner, repo, path, revision } = parseHubLocation(place)
  const all = await hub.list([`${owner}/${repo}`])
  const hasRevision = place.includes('@')
  const files = all.filter(({ location, refs }) => {
    const isBelow = path === '' || location.path === path || location.path.startsWith(`${path}/`)
    return isBelow && (!hasRevision || location.revision === revision || refs.includes(revision))
  })
  return { label: place, files, all }
}
