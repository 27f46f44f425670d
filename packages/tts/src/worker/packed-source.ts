import type { ConfigFile } from '../model/config-schema.ts'
import type { FilePart } from '../model/part.ts'
import type { ModelParts, ModelSource } from '../model/source.ts'

/** Messages have no form for URLs. */
export interface PackedUrl {
  readonly packedUrl: string
}

/** A voice file, or the name of a voice. */
export type PackedVoiceSource = string | PackedUrl | Uint8Array

export type PackedPart = PackedVoiceSource | Blob

export interface PackedParts extends Pick<ModelParts, 'defaultVoice' | 'name'> {
  readonly model: PackedPart
  readonly tokenizer: PackedPart
  readonly config?: PackedPart | ConfigFile
  readonly voices?: Readonly<Record<string, PackedPart>>
}

/** A model source as a message can hold it. */
export type PackedSource = string | PackedUrl | PackedParts

export const unpackSource = (source: PackedSource): ModelSource => {
  // What is no source goes through, to be refused as on the calling thread.
  if (typeof source !== 'object' || source === null) return source
  if (isPackedUrl(source)) return unpackUrl(source)
  const { model, tokenizer, config, voices, ...rest } = source
  return {
    ...rest,
    model: unpackPart(model),
    tokenizer: unpackPart(tokenizer),
    ...(config && { config: isPackedUrl(config) ? unpackUrl(config) : config }),
    ...(voices && { voices: mapValues(voices, unpackPart) }),
  }
}

export const unpackVoiceSource = (source: PackedVoiceSource): string | URL | Uint8Array =>
  isPackedUrl(source) ? unpackUrl(source) : source

export const mapValues = <From, To>(
  values: Readonly<Record<string, From>>,
  map: (value: From) => To,
): Record<string, To> => Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]))

const unpackPart = (part: PackedPart): FilePart => (isPackedUrl(part) ? unpackUrl(part) : part)

const unpackUrl = ({ packedUrl }: PackedUrl): URL => new URL(packedUrl)

const isPackedUrl = (part: unknown): part is PackedUrl =>
  typeof part === 'object' && part !== null && 'packedUrl' in part
