import { Command } from 'commander'
import type { CodecFlags } from '../codec-flags.ts'
import type { Io } from '../io.ts'
import {
  backendOption,
  configOption,
  gpuTuningOption,
  languageOption,
  modelOption,
  quietOption,
  simdOption,
  threadsOption,
} from './shared-options.ts'

const notes = `
A recording is a WAV file of 24 kHz, one channel, 16 bits. It becomes 12.5 latents a second, each of 32
numbers: a safetensors file with the tensor "latents", float32 [frames, 32], a thirtieth of the sound.
The file's metadata says which model made it, and how long the recording is.

Examples:
  pocket encode speech.wav -o speech.safetensors
  pocket decode speech.safetensors -o again.wav
  pocket generate "Through the codec." -o - | pocket encode - -o - | pocket decode - -o - | aplay
  sox song.mp3 -r 24000 -c 1 -b 16 song.wav && pocket encode song.wav`

export const encodeCommand = (io: Io): Command =>
  new Command('encode')
    .description("Turn a recording into latents, with the model's codec.")
    .argument('<recording>', 'a WAV file: 24 kHz, mono, 16 bits; - reads standard input')
    .option('-o, --output-path <file>', 'where the latents go; - is standard output', './latents.safetensors')
    .addOption(languageOption())
    .addOption(configOption())
    .addOption(modelOption())
    .addOption(backendOption())
    .addOption(simdOption())
    .addOption(threadsOption())
    .addOption(gpuTuningOption())
    .addOption(quietOption())
    .addHelpText('after', notes)
    .action(async (recording: string, flags: CodecFlags) => {
      const { encode } = await import('../encode.ts')
      await encode(recording, flags, io)
    })
