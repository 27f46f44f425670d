/** A part of the text that was handed in, in UTF-16 units: `text.slice(start, end)`. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

/** Something that went less well than it should have, though speech came out. */
export interface Warning {
  readonly code: WarningCode | (string & {})
  readonly message: string
  /** The text concerned. */
  readonly span?: TextSpan
}

export type WarningCode =
  /** A chunk reached its greatest length: the model never said that it was done, or had no room to finish. */
  | 'max-frames'
  /** A clause without punctuation has more tokens than a chunk should. */
  | 'long-chunk'
  /** Of loading: the weights are those without voice cloning, since the others could not be had. */
  | 'no-voice-cloning'
  /** Of loading with `backend: 'auto'`: there is a GPU, but it failed or computes wrongly, so the CPU is used. */
  | 'gpu-refused'

/** When a word is spoken. */
export interface WordSpan extends TextSpan {
  readonly text: string
  /** Seconds from the beginning of the utterance. */
  readonly startSec: number
  readonly endSec: number
}

/** What happened to one piece of the text. */
export interface UtteranceChunk {
  /** As it was tokenised. */
  readonly text: string
  readonly ids: number[]
  /** Frames that were to follow the end of speech. */
  readonly framesAfterEos: number
  /** The most frames that the chunk might have had. */
  readonly maxFrames: number
  /** Frames it has. */
  readonly frames: number
  /** The step whose logit first crossed the threshold; null if none did. */
  readonly eosStep: number | null
}

/** Speech, and how it came about. */
export interface Utterance {
  /** Samples, mono, nominally within ±1. */
  readonly pcm: Float32Array
  /** Samples a second: 24000. */
  readonly sampleRate: number
  readonly chunks: UtteranceChunk[]
  readonly warnings: Warning[]
  /** When each word is spoken, where the backend can tell; none can yet. */
  readonly words?: WordSpan[]
}

/** 80 ms of speech, as soon as there are any. */
export interface AudioFrame {
  /** 1920 samples at 24 kHz; none in a frame that only says that the last one was the last. */
  readonly pcm: Float32Array
  /** Counts from 0 through the whole utterance. */
  readonly index: number
  /** Counts from 0. */
  readonly chunkIndex: number
  /** The text of the chunk. */
  readonly span: TextSpan
  /**
   * True exactly once, in the final frame. Where only the step after the last frame can tell that it was the last
   * (`framesAfterEos: 0`, or text that may still be coming), no frame waits for that: an empty one follows.
   */
  readonly isLast: boolean
}

/** How far speech has come. */
export interface GenerateProgress {
  /** The chunk being spoken, from 0. */
  readonly chunkIndex: number
  /** Chunks in all; undefined while text may still be coming. */
  readonly chunkCount: number | undefined
  /** Frames so far, all chunks together. */
  readonly frames: number
  /** Seconds of audio so far. */
  readonly seconds: number
  /** Seconds of audio per second of work; waiting for text or for the consumer is no work. */
  readonly realTimeFactor: number
}
