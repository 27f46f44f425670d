import { predefinedVoices } from '@pocket/tts'
import { chooseModel } from './choose-model.ts'
import { type Io, write } from './io.ts'
import { loadModel } from './load-model.ts'
import type { ModelFlags } from './model-flags.ts'
import { createProgress } from './progress.ts'

/** `pocket voices`: prints the names, and for people which of them speaks when none is named. */
export const listVoices = async (flags: ModelFlags, io: Io): Promise<void> => {
  const { names, usual } = await findVoices(flags, io)
  for (const name of names) {
    const note = io.stdout.isTTY && name === usual ? ' (default)' : ''
    await write(io.stdout, `${name}${note}\n`)
  }
}

const findVoices = async (
  flags: ModelFlags,
  { stderr, signal }: Io,
): Promise<{ names: string[]; usual: string | undefined }> => {
  const { checkpoint } = chooseModel(flags)
  if (checkpoint) return { names: Object.keys(predefinedVoices).sort(), usual: checkpoint.defaultVoice }
  const progress = createProgress(stderr, true)
  try {
    const tts = await loadModel(flags, { signal, onProgress: progress.loading })
    const voices = { names: tts.voices(), usual: tts.defaultVoice }
    tts.dispose()
    return voices
  } finally {
    progress.clear()
  }
}
