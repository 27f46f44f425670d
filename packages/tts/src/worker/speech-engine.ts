import type { PocketTts } from '../pocket-tts.ts'

/**
 * What speaks, wherever it computes: a `PocketTts` on the calling thread, or the engine that `loadInWorker` gives, on a
 * thread of its own. Code that takes a `SpeechEngine` runs with either.
 */
export interface SpeechEngine
  extends Pick<
    PocketTts,
    | 'config'
    | 'backend'
    | 'sampleRate'
    | 'canCloneVoices'
    | 'threads'
    | 'defaultVoice'
    | 'warnings'
    | 'voices'
    | 'loadVoice'
    | 'cloneVoice'
    | 'exportVoice'
    | 'generate'
    | 'speak'
    | 'stream'
    | 'dispose'
  > {}
