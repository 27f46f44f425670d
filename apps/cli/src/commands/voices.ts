import { Command } from 'commander'
import type { Io } from '../io.ts'
import type { ModelFlags } from '../model-flags.ts'
import { configOption, languageOption, modelOption } from './shared-options.ts'

const notes = `
The voices of a published model are known without fetching it; each is fetched when it first speaks.

Examples:
  pocket voices
  pocket voices --language german
  pocket voices --model ./my-model`

export const voicesCommand = (io: Io): Command =>
  new Command('voices')
    .description('List the voices of the embedded model, or of another, one a line.')
    .addOption(languageOption())
    .addOption(configOption())
    .addOption(modelOption())
    .addHelpText('after', notes)
    .action(async (flags: ModelFlags) => {
      const { listVoices } = await import('../list-voices.ts')
      await listVoices(flags, io)
    })
