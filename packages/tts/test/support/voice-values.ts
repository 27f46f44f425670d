import type { Voice } from '@pocket/tts'

/** All keys and values of a voice, layer by layer. */
export const valuesOf = ({ kv }: Voice): number[] => kv.layers.flatMap(({ k, v }) => [...k, ...v])
