import { Option } from 'commander'
import { parseNumber } from '../numbers.ts'

/** At most one of the three options that name a model may be given: which would win is nothing to guess. */
export const languageOption = (): Option =>
  new Option(
    '--language <id>',
    'a published model: english, german, french_24l, …; see pocket models list',
  ).conflicts(['config', 'model'])

export const configOption = (): Option =>
  new Option(
    '--config <file>',
    'a config file of the Python reference, by path, URL or hf://owner/repo/file.yaml@revision',
  ).conflicts(['language', 'model'])

export const modelOption = (): Option =>
  new Option(
    '--model <model>',
    'any model: a folder, its URL, hf://owner/repo/folder@revision, or what the two options above take; default: ' +
      'the embedded model',
  ).conflicts(['language', 'config'])

export const quantizeOption = (): Option =>
  new Option('--quantize', 'keep the language model in 8 bits: half the memory')

export const simdOption = (): Option =>
  new Option('--simd <level>', 'WebAssembly level of the kernels')
    .choices(['auto', 'relaxed', 'simd', 'scalar'])
    .default('auto')

export const codecPrecisionOption = (): Option =>
  new Option(
    '--codec-precision <name>',
    'int16 computes sound in integers: faster on the CPU, no audible change',
  )
    .choices(['stored', 'int16'])
    .default('stored')

export const threadsOption = (): Option =>
  new Option(
    '--threads <number>',
    'threads that share the work; default: one a processor, at most 4',
  ).argParser(parseNumber)

export const backendOption = (): Option =>
  new Option('--backend <name>', 'what computes; auto takes a GPU where it is there, right and faster')
    .choices(['auto', 'cpu', 'hybrid', 'gpu'])
    .default('auto')

export const quietOption = (): Option => new Option('-q, --quiet', 'print nothing but errors')
