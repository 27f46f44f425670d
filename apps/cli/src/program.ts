import { Command } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { decodeCommand } from './commands/decode.ts'
import { doctorCommand } from './commands/doctor.ts'
import { encodeCommand } from './commands/encode.ts'
import { exportVoiceCommand } from './commands/export-voice.ts'
import { generateCommand } from './commands/generate.ts'
import { modelsCommand } from './commands/models.ts'
import { serveCommand } from './commands/serve.ts'
import { voicesCommand } from './commands/voices.ts'
import type { Io } from './io.ts'

/** The command `pocket` with its subcommands. */
export const createProgram = (io: Io): Command => {
  const program = new Command('pocket')
    .description('Text in, speech out: Pocket TTS on this machine.')
    .version(manifest.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', '\nHelp for one command: pocket generate --help')
  const commands = [
    generateCommand,
    voicesCommand,
    exportVoiceCommand,
    encodeCommand,
    decodeCommand,
    serveCommand,
    modelsCommand,
    doctorCommand,
  ]
  for (const create of commands) program.addCommand(create(io))
  setUp(program, 'pocket', io)
  return program
}

/** What holds for a command and all commands below it; `path` is how it is called. */
const setUp = (command: Command, path: string, io: Io): void => {
  command
    .option('--debug', 'print stacks of errors (or set POCKET_DEBUG=1)')
    .exitOverride()
    .showHelpAfterError(`(${path} --help lists what there is)`)
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, print) => print(text.replace(/^error: /, 'pocket: ')),
    })
  for (const child of command.commands) setUp(child, `${path} ${child.name()}`, io)
}
