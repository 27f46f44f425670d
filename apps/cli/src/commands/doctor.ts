import { Command } from 'commander'
import type { Io } from '../io.ts'

const notes = `
Looks at this machine and makes the embedded model speak; asks nothing of the network, and never shows a token.
Exit code 1 if something is broken.

Examples:
  pocket doctor
  pocket doctor --json > report.json       for a bug report`

export const doctorCommand = (io: Io): Command =>
  new Command('doctor')
    .description('Check what speech needs: Node, the kernels, the cache, the embedded model.')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', notes)
    .action(async (flags: { json?: boolean }) => {
      const { examine } = await import('../doctor/examine.ts')
      await examine(flags, io)
    })
