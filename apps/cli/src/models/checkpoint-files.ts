import {
  type CachedFile,
  type Checkpoint,
  formatHubLocation,
  predefinedVoices,
  voiceLocation,
} from '@pocket/tts'

/** A file of a published model. */
export interface CheckpointFile {
  readonly kind: 'weights' | 'weights without voice cloning' | 'tokenizer' | 'voice'
  /** Of a voice. */
  readonly name?: string
  /** `hf://owner/repo/path@revision` */
  readonly place: string
}

/** Every file that there is of it. */
const filesOf = (checkpoint: Checkpoint): CheckpointFile[] => [
  { kind: 'weights', place: checkpoint.weights },
  { kind: 'weights without voice cloning', place: checkpoint.weightsWithoutVoiceCloning },
  { kind: 'tokenizer', place: checkpoint.tokenizer },
  ...Object.keys(predefinedVoices).map((name) => voiceFile(checkpoint, name)),
]

/** Throws PocketTtsError `unknown-voice`. */
export const voiceFile = (checkpoint: Checkpoint, name: string): CheckpointFile => ({
  kind: 'voice',
  name,
  place: voiceLocation(checkpoint, name),
})

/** A file of a published model that is on this machine. */
export interface Kept extends CheckpointFile {
  readonly file: CachedFile
}

/** Those of its files that are among the cached ones. */
export const keptOf = (checkpoint: Checkpoint, cached: readonly CachedFile[]): Kept[] => {
  const byPlace = new Map(cached.map((file) => [formatHubLocation(file.location), file]))
  return filesOf(checkpoint).flatMap((each) => {
    const file = byPlace.get(each.place)
    return file ? [{ ...each, file }] : []
  })
}

/** In words: weights, tokenizer, voices alba and jane. */
export const describeKept = (kept: readonly Kept[]): string => {
  const voices = kept.flatMap(({ name }) => name ?? [])
  const parts: string[] = kept.flatMap(({ kind }) => (kind === 'voice' ? [] : kind))
  if (voices.length > 0) parts.push(`${voices.length === 1 ? 'voice' : 'voices'} ${voices.join(' and ')}`)
  return parts.join(', ')
}
