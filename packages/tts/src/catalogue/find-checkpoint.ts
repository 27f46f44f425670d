import { PocketTtsError } from '../errors.ts'
import { nearest } from '../model/nearest.ts'
import type { Checkpoint } from './checkpoint.ts'
import { checkpoints } from './checkpoints.ts'

/** Names that people will try, and why there is no such checkpoint. */
const absent: Readonly<Record<string, string>> = {
  french: "French was published with 24 layers only; its id is 'french_24l'",
  dutch: 'the Dutch checkpoint needs a tokenizer.json, a format that is not read yet',
}

/** Ids and aliases are lower case, such as `english` or `french_24l`; a place has a slash, a dot or a colon. */
export const looksLikeCheckpointId = (text: string): boolean => /^[\w-]+$/.test(text)

/** The checkpoint of an id or alias; undefined where there is none. */
export const lookUpCheckpoint = (id: string): Checkpoint | undefined =>
  checkpoints.find((checkpoint) => checkpoint.id === id || checkpoint.aliases.includes(id))

/**
 * The checkpoint of an id or alias.
 * Throws PocketTtsError `unknown-model`: why there is none where that is known, else the nearest id and all others.
 */
export const findCheckpoint = (id: string): Checkpoint => {
  const found = lookUpCheckpoint(id)
  if (found) return found
  if (Object.hasOwn(absent, id)) {
    throw new PocketTtsError('unknown-model', `there is no checkpoint '${id}': ${absent[id]}`)
  }
  const ids = checkpoints.flatMap((checkpoint) => [...checkpoint.aliases, checkpoint.id])
  throw new PocketTtsError(
    'unknown-model',
    `there is no checkpoint '${id}'; did you mean ${nearest(id, ids, String)}? Known are ${ids.join(', ')}`,
  )
}
