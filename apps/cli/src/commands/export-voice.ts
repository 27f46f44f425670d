import { Command } from 'commander'
import type { ExportFlags } from '../export-voice.ts'
import type { Io } from '../io.ts'
import { parseNumber } from '../option-values.ts'
import {
  backendOption,
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

const notes = `
A voice is what the model remembers after hearing someone speak: ten to thirty seconds, clean, one speaker, as
a WAV file of 24 kHz, one channel, 16 bits. The voice file speaks at once and works with this model only.
Clone only voices that you may.

Examples:
  pocket export-voice me.wav -o me.safetensors
  pocket generate --voice me.safetensors "It sounds like me."
  pocket export-voice recordings/ voices/          every WAV file of a folder
  sox talk.mp3 -r 24000 -c 1 -b 16 me.wav          how to make such a WAV file`

export const exportVoiceCommand = (io: Io): Command =>
  new Command('export-voice')
    .description('Clone a voice from a recording, into a voice file.')
    .argument('<recording>', 'a WAV file: 24 kHz, mono, 16 bits; or a folder of them; - reads standard input')
    .argument('[voice]', 'where the voice file goes, or the folder for several')
    .option('-o, --output-path <file>', 'the same as an option; default ./voice.safetensors')
    .option(
      '--max-seconds <seconds>',
      'how much of the recording is heard, from its beginning (default: 30)',
      parseNumber,
    )
    .addOption(languageOption())
    .addOption(configOption())
    .addOption(modelOption())
    .addOption(backendOption())
    .addOption(precisionOption())
    .addOption(quantizeOption())
    .addOption(simdOption())
    .addOption(threadsOption())
    .addOption(gpuTuningOption())
    .addOption(quietOption())
    .addHelpText('after', notes)
    .action(async (recording: string, voice: string | undefined, flags: ExportFlags) => {
      const { exportVoice } = await import('../export-voice.ts')
      await exportVoice(recording, voice, flags, io)
    })
