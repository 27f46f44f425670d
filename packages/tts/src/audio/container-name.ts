/** Bytes at the start of files that people mistake for what is wanted; `.` stands for any byte. */
const SIGNATURES: readonly (readonly [signature: string, name: string])[] = [
  ['RIFF....WAVE', 'WAV'],
  ['RIFF....AVI ', 'an AVI film'],
  ['RIFF', 'a RIFF file without WAVE in it'],
  ['RIFX', 'a big-endian WAV file (RIFX)'],
  ['RF64', 'a 64-bit WAV file (RF64)'],
  ['fLaC', 'a FLAC file'],
  ['OggS', 'an Ogg file'],
  ['ID3', 'an MP3 file'],
  ['FORM....AIF', 'an AIFF file'],
  ['....ftyp', 'an MP4 file'],
  ['\x1aE\xdf\xa3', 'a WebM or Matroska file'],
  ['<', 'a page of HTML or XML'],
]

/** What the first bytes of a file say it is: `'WAV'`, or words that complete “this is …”. */
export const containerName = (file: Uint8Array): string => {
  if (file.length === 0) return 'an empty file'
  const start = String.fromCharCode(...file.subarray(0, 12))
  const known = SIGNATURES.find(([signature]) => matches(start, signature))
  if (known) return known[1]
  if (isMpegSync(file)) return 'an MP3 file'
  const bytes = Array.from(file.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0'))
  return `no audio file that is known (it starts with the bytes ${bytes.join(' ')})`
}

const matches = (start: string, signature: string): boolean =>
  signature.length <= start.length &&
  [...signature].every((character, i) => character === '.' || character === start[i])

/** 11 set bits, then an MPEG version and a layer that exist. */
const isMpegSync = ([first = 0, second = 0]: Uint8Array): boolean =>
  first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x18) !== 0x08 && (second & 0x06) !== 0
