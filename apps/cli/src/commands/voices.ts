import { Command } from 'commander'
import { type Io, write } from '../io.ts'
import { modelOption } from './shared-options.ts'

export const voicesCommand = (io: Io): Command =>
  new Command('voices')
    .description('List the voices of the embedded model, or of another, one a line.')
    .addOption(modelOption())
    .action(async ({ model }: { model?: string }) => {
      const { loadModel } = await import('../load-model.ts')
      const tts = await loadModel({ model, signal: io.signal })
      for (const voice of tts.voices()) {
        // Only for people: a script gets bare names.
        const note = io.stdout.isTTY && voice === tts.defaultVoice ? ' (default)' : ''
        await write(io.stdout, `${voice}${note}\n`)
      }
      tts.dispose()
    })
