import { describeChoices, loadChoices, loadCounts, type OptionChoices } from '@pocket/tts/options'
import { Option } from 'commander'
import { parseChoice, parseNumber } from '../option-values.ts'

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

/** What makes speech faster or smaller has a place of its own in the help. */
const speedOption = (flag: string, description: string): Option =>
  new Option(flag, description).helpGroup('Speed and memory:')

/** One that takes one of a few values, with what each of them means. */
const choiceOption = (flag: string, choices: OptionChoices): Option =>
  speedOption(flag, describeChoices(choices)).argParser(parseChoice(Object.keys(choices.values)))

export const precisionOption = (): Option => choiceOption('--precision <name>', loadChoices.precision)

export const quantizeOption = (): Option =>
  speedOption('--quantize', 'the same as --precision int8').conflicts('precision')

export const codecPrecisionOption = (): Option =>
  choiceOption('--codec-precision <name>', loadChoices.codecPrecision)

export const simdOption = (): Option => choiceOption('--simd <level>', loadChoices.simd)

export const gpuTuningOption = (): Option => choiceOption('--gpu-tuning <name>', loadChoices.gpuTuning)

export const threadsOption = (): Option =>
  speedOption('--threads <number>', loadCounts.threads.about).argParser(parseNumber)

export const backendOption = (): Option => choiceOption('--backend <name>', loadChoices.backend)

export const quietOption = (): Option => new Option('-q, --quiet', 'print nothing but errors')
