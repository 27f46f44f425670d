import { Command } from 'commander'
import type { CodecFlags } from '../codec-flags.ts'
import type { Io } from '../io.ts'
import {
  backendOption,
  codecPrecisionOption,
  configOption,
  gpuTuningOption,
  languageOption,
  modelOption,
  quietOption,
  simdOption,
  threadsOption,
} from './shared-options.ts'

const notes = `
Latents mean something only to the codec that made them: a file that names another model is refused. The sound
is as long as the recording was, to the sample, where the file says; else it has whole frames of 80 ms.

Examples:
  pocket decode speech.safetensors -o again.wav
  pocket decode speech.safetensors -o - | aplay
  pocket decode german.safetensors --model ./german -o german.wav`

export const decodeCommand = (io: Io): Command =>
  new Command('decode')
    .description('Turn latents back into sound, a WAV file: 24 kHz, mono, 16 bits.')
    .argument('<latents>', 'a safetensors file made by pocket encode; - reads standard input')
    .option('-o, --output-path <file>', 'where the WAV file goes; - is standard output', './decoded.wav')
    .addOption(languageOption())
    .addOption(configOption())
    .addOption(modelOption())
    .addOption(backendOption())
    .addOption(codecPrecisionOption())
    .addOption(simdOption())
    .addOption(threadsOption())
    .addOption(gpuTuningOption())
    .addOption(quietOption())
    .addHelpText('after', notes)
    .action(async (latents: string, flags: CodecFlags) => {
      const { decode } = await import('../decode.ts')
      await decode(latents, flags, io)
    })
