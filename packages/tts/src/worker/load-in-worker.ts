import { worker } from '#worker'
import { PocketTtsError } from '../errors.ts'
import { checkLoadOptions, type LoadOptions } from '../load-options.ts'
import { Connection } from './connection.ts'
import { packSource, type WorkerModelSource } from './pack-source.ts'
import { Parcel } from './parcel.ts'
import type { SpeechEngine } from './speech-engine.ts'
import { WorkerEngine } from './worker-engine.ts'

export interface WorkerOptions extends LoadOptions {
  /** Frames of a stream that may be made before they are taken, 1 to 1000. Default 4: 320 ms of speech. */
  readonly framesAhead?: number | undefined
}

const usualFramesAhead = 4
const mostFramesAhead = 1000

/**
 * `PocketTts.load`, on a thread of its own: the calling thread only passes messages and never waits for a computation.
 * The engine does what a `PocketTts` does, in the same samples, and refuses the same things with the same errors. In
 * Node an idle one does not keep the process alive; `dispose` ends its thread.
 *
 * @throws PocketTtsError as `PocketTts.load` does, and `worker-failed` where the worker cannot start or ends by itself,
 *   as every later call then does; the signal's reason
 */
export const loadInWorker = async (
  source: WorkerModelSource,
  options: WorkerOptions = {},
): Promise<SpeechEngine> => {
  checkLoadOptions(options)
  const { framesAhead = usualFramesAhead, signal, onProgress, ...data } = options
  checkFramesAhead(framesAhead)
  signal?.throwIfAborted()
  const parcel = new Parcel()
  const packed = packSource(source, parcel)
  const connection = new Connection(worker.startWorker)
  try {
    const call = connection.call(
      { command: 'load', source: packed, options: data },
      { signal, onLoadProgress: onProgress },
      parcel.transfer,
    )
    return new WorkerEngine(connection, await connection.awaited(call.result), framesAhead)
  } catch (error) {
    connection.end(new PocketTtsError('disposed', 'the model could not be loaded'))
    throw error
  }
}

const checkFramesAhead = (value: number): void => {
  if (Number.isSafeInteger(value) && value >= 1 && value <= mostFramesAhead) return
  throw new PocketTtsError(
    'invalid-option',
    `framesAhead is ${value}; it must be a whole number from 1 to ${mostFramesAhead}`,
  )
}
