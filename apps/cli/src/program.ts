import { Command } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { decodeCommand } from './commands/decode.ts'
import { encodeCommand } from './commands/encode.ts'
import { exportVoiceCommand } from './commands/export-voice.ts'
import { generateCommand } from './commands/generate.ts'
import { serveCommand } from './commands/serve.ts'
import { voicesCommand } from './commands/voices.ts'
import type { Io } from './io.ts'

/** The command `pocket` with its subcommands. */
export const createProgram = (io: Io): Command => {
  const program = new Command('pocket')
    .description('Text in, speech out: Pocket TTS on this machine.')
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', '\nHelp for one command: pocket generate --help')
  const commands = [
    generateCommand,
    voicesCommand,
    exportVoiceCommand,
    encodeCommand,
    decodeCommand,
    serveCommand,
  ]
  for (const create of commands) program.addCommand(create(io))
  for (const command of [program, ...program.commands]) {
    command
      .option('--debug', 'print stacks of errors (or set POCKET_DEBUG=1)')
      .exitOverride()
      .showHelpAfterError(
        `(pocket ${command === program ? '' : `${command.name()} `}--help lists what there is)`,
      )
      .configureOutput({
        writeOut: (text) => io.stdout.write(text),
        writeErr: (text) => io.stderr.write(text),
        outputError: (text, print) => print(text.replace(/^error: /, 'pocket: ')),
      })
  }
  return program
}
