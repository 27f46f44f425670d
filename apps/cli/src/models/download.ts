import {
  type Checkpoint,
  findCheckpoint,
  type Hub,
  openHub,
  PocketTtsError,
  type ProgressListener,
  predefinedVoices,
} from '@pocket/tts'
import { formatBytes } from '../format-bytes.ts'
import { type Io, write } from '../io.ts'
import { createProgress, type Progress } from '../progress.ts'
import { type CheckpointFile, voiceFile } from './checkpoint-files.ts'

interface DownloadFlags {
  readonly voices?: string
  readonly quiet?: boolean
}

/** `pocket models download` */
export const downloadModel = async (id: string, { voices, quiet }: DownloadFlags, io: Io): Promise<void> => {
  const checkpoint = findCheckpoint(id)
  const files = [tokenizerOf(checkpoint), ...chosenVoices(checkpoint, voices)]
  const progress = createProgress(io.stderr, !quiet)
  const say = async (text: string): Promise<void> => {
    progress.clear()
    if (!quiet) await write(io.stdout, text)
  }
  try {
    const fetch = fetcher(openHub(), io, progress, say)
    let bytes = await fetchWeights(checkpoint, fetch, async (message) => {
      progress.clear()
      if (!quiet) await write(io.stderr, `pocket: warning: ${message}\n`)
    })
    for (const file of files) bytes += await fetch(file)
    await say(`${checkpoint.id} is here, ${formatBytes(bytes)}. It speaks with:\n${example(checkpoint)}\n`)
  } catch (error) {
    progress.clear()
    const comfort = 'what has come is kept, and the next download goes on from there'
    if (io.signal.aborted && !quiet) await write(io.stderr, `pocket: stopped; ${comfort}\n`)
    throw error
  } finally {
    progress.clear()
  }
}

/** Sees to it that a file is here, says so, and gives its bytes. */
type Fetch = (file: CheckpointFile) => Promise<number>

const fetcher = (
  hub: Hub,
  { signal }: Io,
  { loading }: Progress,
  say: (text: string) => Promise<void>,
): Fetch => {
  const onProgress: ProgressListener = (download) => loading({ stage: 'download', ...download })
  return async ({ kind, name, place }) => {
    const isHere = (await hub.find(place)) !== undefined
    const { size } = await hub.download(place, { signal, onProgress })
    const what = name === undefined ? kind : `${kind} ${name}`
    await say(`${what}: ${formatBytes(size)}${isHere ? ', already here' : ''}\n`)
    return size
  }
}

/** Why weights may not be had although others may. */
const mayFallBack: ReadonlySet<string> = new Set(['access-denied', 'not-found', 'offline'])

/** The whole weights, or those without voice cloning where the former may not be had; `warn` says why. */
const fetchWeights = async (
  { weights, weightsWithoutVoiceCloning }: Checkpoint,
  fetch: Fetch,
  warn: (message: string) => Promise<void>,
): Promise<number> => {
  try {
    return await fetch({ kind: 'weights', place: weights })
  } catch (error) {
    if (!(error instanceof PocketTtsError && mayFallBack.has(error.code))) throw error
    await warn(`voices cannot be cloned: ${error.message}`)
    return fetch({ kind: 'weights without voice cloning', place: weightsWithoutVoiceCloning })
  }
}

const tokenizerOf = ({ tokenizer }: Checkpoint): CheckpointFile => ({ kind: 'tokenizer', place: tokenizer })

/** Throws PocketTtsError `unknown-voice`. */
const chosenVoices = (checkpoint: Checkpoint, voices = checkpoint.defaultVoice): CheckpointFile[] => {
  const names = voices === 'all' ? Object.keys(predefinedVoices) : voices.split(',')
  return [...new Set(names.map((name) => name.trim()))].map((name) => voiceFile(checkpoint, name))
}

const example = ({ id, defaultSentence }: Checkpoint): string =>
  `  pocket generate --language ${id} "${defaultSentence}"`
