import { mini } from '@pocket/mini'
import { loadInWorker, PocketTtsError } from '@pocket/tts'

interface Pocket {
  readonly loadInWorker: typeof loadInWorker
  readonly mini: typeof mini
  readonly PocketTtsError: typeof PocketTtsError
}

declare global {
  var pocket: Pocket
}

globalThis.pocket = { loadInWorker, mini, PocketTtsError }
