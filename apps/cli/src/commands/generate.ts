import { Command } from 'commander'
import type { GenerateFlags } from '../generate-flags.ts'
import type { Io } from '../io.ts'
import { parseNumber, parseSeed } from '../option-values.ts'
import {
  backendOption,
  codecPrecisionOption,
  configOption,
  gpuTuningOption,
  languageOption,
  modelOption,
  precisionOption,
  quantizeOption,
  quietOption,
  simdOption,
  threadsOption,
} from './shared-options.ts'

const examples = `
Examples:
  pocket generate "Hello from my pocket."
  pocket generate --voice slt --seed 7 -o hello.wav "Hello again."
  pocket generate --voice me.wav "It sounds like me."
  fortune | pocket generate - -o - | aplay
  pocket generate --language german "Guten Morgen."
  pocket generate --language english --voice jane "With another voice."
  pocket generate --config hf://someone/models/dutch.yaml@v1 --voice ann.safetensors "Goedemorgen."
  pocket generate --model ./my-model "With a model of my own."

A published model is fetched when it is first used, verified and kept: see pocket models --help.`

export const generateCommand = (io: Io): Command =>
  new Command('generate')
    .description('Speak a text into a WAV file: 24 kHz, mono, 16 bits.')
    .argument('[text]', 'what to say; - reads standard input')
    .option('--text <text>', 'what to say, for texts that begin with a dash')
    .option(
      '--voice <voice>',
      "a voice's name (see pocket voices), the path of a voice file, or a WAV file to clone (24 kHz, mono, 16 bits)",
    )
    .option('-o, --output-path <file>', 'where the WAV file goes; - is standard output', './tts_output.wav')
    .option('--seed <number>', 'the same seed gives the same speech; default: always the same one', parseSeed)
    .option('--temperature <number>', 'more is livelier and less sure', parseNumber)
    .option('--lsd-decode-steps <count>', 'flow steps per frame: more is slower and finer', parseNumber)
    .option('--noise-clamp <number>', 'draw noise beyond this again', parseNumber)
    .option('--eos-threshold <number>', 'speech ends when the logit of its end is above this', parseNumber)
    .option('--frames-after-eos <count>', 'frames of 80 ms after the end of speech', parseNumber)
    .option('--max-tokens <count>', 'longest piece of text that is spoken in one go', parseNumber)
    .addOption(languageOption())
    .addOption(configOption())
    .addOption(modelOption())
    .addOption(backendOption())
    .addOption(precisionOption())
    .addOption(quantizeOption())
    .addOption(codecPrecisionOption())
    .addOption(simdOption())
    .addOption(threadsOption())
    .addOption(gpuTuningOption())
    .addOption(quietOption())
    .addHelpText('after', examples)
    .action(async (text: string | undefined, flags: GenerateFlags) => {
      // Loaded only now: help and mistakes in the options are answered at once.
      const { generate } = await import('../generate.ts')
      await generate(text, flags, io)
    })
