import { quote } from './error.ts'

/** How many bytes of a file's start are enough to recognise it. */
export const recognisable = 64

const magics: readonly (readonly [start: string, description: string])[] = [
  [
    'version https://git-lfs',
    'a Git LFS pointer, not the file it stands for: fetch that one with `git lfs pull`',
  ],
  ['<?xml', 'an XML document, perhaps the error message of a download'],
  [
    'PK\u0003\u0004',
    'a zip archive, as torch.save writes .pt, .pth and .bin files: convert it to safetensors',
  ],
  ['GGUF', 'a GGUF file: this package reads safetensors only'],
  ['RIFF', 'a RIFF file, such as WAV sound: this package reads safetensors only'],
  ['\u0089HDF', 'an HDF5 file: this package reads safetensors only'],
  ['\u0093NUMPY', 'a NumPy array file: this package reads safetensors only'],
  ['\u001f\u008b\u0008', 'gzip data: unpack it first'],
  ['\u0028\u00b5\u002f\u00fd', 'Zstandard data: unpack it first'],
]

/**
 * What a file that is no safetensors file seems to be, by its first bytes (see `recognisable`): most of them
 * are downloads that went wrong, and the message should say so.
 */
export const describeForeignFile = (start: Uint8Array): string | undefined => {
  const text = Array.from(start, (byte) => String.fromCharCode(byte)).join('')
  for (const [magic, description] of magics) {
    if (text.startsWith(magic)) return description
  }
  if (/^\s*<(!doctype html|html|head|body)/i.test(text)) {
    return 'an HTML page, perhaps the login or error page of a download'
  }
  if (isPickle(start)) {
    return 'a Python pickle, as torch.save once wrote .pt and .bin files: convert it to safetensors'
  }
  if (/^\s*[{[]\s*["{[\]}]/.test(text)) {
    return 'a JSON document: an index such as model.safetensors.index.json lists the files that hold the tensors'
  }
  if (/^[\t\n\r -~]+$/.test(text)) return `a text that begins with ${quote(text)}`
  return undefined
}

/** The opcode PROTO with a protocol from 2 to 5, and another opcode. */
const isPickle = ([proto, protocol = 0, opcode = 0, ...rest]: Uint8Array): boolean =>
  proto === 0x80 &&
  protocol >= 2 &&
  protocol <= 5 &&
  opcode !== 0 &&
  // Five zeros would make it the length of a safetensors header that begins with the same bytes.
  rest.slice(0, 5).some((byte) => byte !== 0)
