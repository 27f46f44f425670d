import { mkdir, readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { PocketTts } from '@pocket/tts'
import { cloneHeard, hearRecording, usualSeconds } from './clone-recording.ts'
import type { CodecFlags } from './codec-flags.ts'
import { openBytesDestination } from './destination/open-destination.ts'
import { InputError } from './errors.ts'
import type { Io } from './io.ts'
import { loadModel } from './load-model.ts'
import { produce } from './produce.ts'
import { formatSeconds, type Progress } from './progress.ts'

export interface ExportFlags extends Omit<CodecFlags, 'outputPath'> {
  readonly outputPath?: string
  readonly maxSeconds?: number
}

const usualOutput = './voice.safetensors'

/** `pocket export-voice`: voices cloned from one recording, or from every WAV file of a folder. */
export const exportVoice = async (
  input: string,
  argument: string | undefined,
  flags: ExportFlags,
  io: Io,
): Promise<void> => {
  if (argument !== undefined && flags.outputPath !== undefined) {
    throw new InputError('the output is given twice, as an argument and with -o; give it once')
  }
  const { maxSeconds = usualSeconds } = flags
  if (!(maxSeconds > 0)) throw new InputError(`--max-seconds is ${maxSeconds}; it must be above 0`)
  const exports = await planExports(input, argument ?? flags.outputPath)
  const model = modelOnce(flags, io)
  for (const { recording, output } of exports) {
    await exportOne(recording, { ...flags, outputPath: output, maxSeconds }, model, io)
  }
}

interface Export {
  readonly recording: string
  readonly output: string
}

/** A folder goes into a folder, and so does a file where the output is one; each voice has its recording's name. */
const planExports = async (input: string, output: string | undefined): Promise<Export[]> => {
  const voiceIn = (folder: string, recording: string): Export => ({
    recording,
    output: join(folder, `${basename(recording, extname(recording))}.safetensors`),
  })
  if (!(await isFolder(input))) {
    if (output !== undefined && input !== '-' && (await isFolder(output))) return [voiceIn(output, input)]
    return [{ recording: input, output: output ?? usualOutput }]
  }
  if (output === undefined || output === '-') {
    throw new InputError(`${input} is a folder: name a folder for its voices too`)
  }
  const names = (await readdir(input)).filter((name) => /\.wav$/i.test(name)).sort()
  if (names.length === 0) throw new InputError(`the folder ${input} holds no WAV file`)
  await mkdir(output, { recursive: true })
  return names.map((name) => voiceIn(output, join(input, name)))
}

const isFolder = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined)
  return found?.isDirectory() ?? false
}

type LoadOnce = (progress: Progress) => Promise<PocketTts>

const modelOnce = (flags: ExportFlags, { signal }: Io): LoadOnce => {
  let loading: Promise<PocketTts> | undefined
  return ({ loading: onProgress }) => {
    loading ??= loadModel(flags, { signal, onProgress })
    return loading
  }
}

const exportOne = async (
  path: string,
  flags: ExportFlags & { readonly outputPath: string; readonly maxSeconds: number },
  load: LoadOnce,
  io: Io,
): Promise<void> => {
  const destination = await openBytesDestination(flags.outputPath, io)
  await produce(destination, flags, io, async (progress) => {
    const heard = await hearRecording(path, flags.maxSeconds, io)
    const tts = await load(progress)
    const voice = await cloneHeard(tts, heard, io.signal, progress)
    await destination.write(tts.exportVoice(voice))
    return `${destination.label}: a voice for ${tts.config.modelId}, from ${formatSeconds(heard.seconds)} of ${heard.label}`
  })
}
