import { Command, Option } from 'commander'
import type { Io } from '../io.ts'
import { quietOption } from './shared-options.ts'

const notes = `
Models are fetched when they are first used; download fetches one beforehand. A file is verified before it is
kept, and what Ctrl-C or a bad line breaks off is gone on with the next time.

Examples:
  pocket models list
  pocket models download german
  pocket models download english --voices alba,jane
  pocket models verify
  pocket models remove german

Files lie where the tools of the Hugging Face hub keep theirs, and are shared with them. Variables:
  HF_TOKEN         an access token; with one, models come with voice cloning, once you have accepted the terms
                   on https://huggingface.co/kyutai/pocket-tts
  HF_HUB_CACHE     another folder for the files
  HF_ENDPOINT      a mirror of the hub
  HF_HUB_OFFLINE   1: nothing is downloaded`

export const modelsCommand = (io: Io): Command =>
  new Command('models')
    .description('See, fetch, check and remove published models.')
    .helpCommand(false)
    .addHelpText('after', notes)
    .addCommand(listCommand(io))
    .addCommand(downloadCommand(io))
    .addCommand(verifyCommand(io))
    .addCommand(removeCommand(io))

const jsonOption = (): Option => new Option('--json', 'print JSON, for programs')

const listCommand = (io: Io): Command =>
  new Command('list')
    .description('List the published models, and what of them is on this machine.')
    .addOption(jsonOption())
    .action(async (flags: { json?: boolean }) => {
      const { listModels } = await import('../models/list.ts')
      await listModels(flags, io)
    })

const downloadNotes = `
Without a token, or without access, the weights are those without voice cloning: they speak the same.

Examples:
  pocket models download german                        with its usual voice
  pocket models download english --voices alba,jane
  pocket models download french_24l --voices all
  HF_TOKEN=hf_… pocket models download english         with voice cloning`

const downloadCommand = (io: Io): Command =>
  new Command('download')
    .description('Fetch a published model: weights, tokenizer and voices.')
    .argument('<id>', 'english, german, french_24l, …; see pocket models list')
    .option(
      '--voices <names>',
      "voices to fetch, with commas between them, or all (default: the model's own)",
    )
    .addOption(quietOption())
    .addHelpText('after', downloadNotes)
    .action(async (id: string, flags: { voices?: string; quiet?: boolean }) => {
      const { downloadModel } = await import('../models/download.ts')
      await downloadModel(id, flags, io)
    })

const whatNotes = (verb: string): string => `
Examples:
  pocket models ${verb} german
  pocket models ${verb} hf://someone/their-model        what a repository on the hub has left here
  pocket models ${verb} hf://kyutai/tts-voices@main     of one revision`

const verifyCommand = (io: Io): Command =>
  new Command('verify')
    .description(
      'Hash files again, and compare with what the hub says of them. Exit code 1 if any is damaged.',
    )
    .argument('[model]', 'a published model, or a place on the hub; default: every published model')
    .addOption(quietOption())
    .addHelpText('after', whatNotes('verify'))
    .action(async (target: string | undefined, flags: { quiet?: boolean }) => {
      const { verifyModels } = await import('../models/verify.ts')
      await verifyModels(target, flags, io)
    })

const removeCommand = (io: Io): Command =>
  new Command('remove')
    .description('Remove a model from this machine. Says what would go, and asks.')
    .argument('[model]', 'a published model, or a place on the hub')
    .option('--incomplete', 'remove what downloads that were broken off have left')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', whatNotes('remove'))
    .action(async (target: string | undefined, flags: { incomplete?: boolean; yes?: boolean }) => {
      const { removeModels } = await import('../models/remove.ts')
      await removeModels(target, flags, io)
    })
