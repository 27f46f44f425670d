/** What speech may be delivered as: the names of OpenAI's `response_format`. */
export const formats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const

export type Format = (typeof formats)[number]

/** What the bytes of a format are called in `Content-Type`. */
export const contentTypes: Readonly<Record<Format, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}
