import { Command } from 'commander'

/** `pocket serve`: everything after the name is for the server, `--help` included. */
export const serveCommand = (): Command =>
  new Command('serve')
    .description('Speak over HTTP, as clients of OpenAI’s API expect: see pocket serve --help.')
    .argument('[flags...]')
    .usage('[flags]')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (flags: string[]) => {
      // Loaded only now: the other commands have no use for a server.
      const { serve } = await import('@pocket/server')
      await serve(flags, 'pocket serve')
    })
