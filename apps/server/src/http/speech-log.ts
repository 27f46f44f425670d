import type { Context } from 'hono'
import type { Outcome } from '../speech/turn.ts'
import type { Environment } from './environment.ts'

/** What is known of a text without knowing it. */
export interface SpeechFacts {
  readonly format: string
  readonly voice: string | undefined
  readonly characters: number
}

/** Writes one line when an utterance is over. */
export const speechLog =
  (c: Context<Environment>, facts: SpeechFacts) =>
  ({ result, error, frames, waitedMs, firstFrameMs, spokeMs, warnings }: Outcome): void => {
    const line = {
      ...facts,
      result,
      frames,
      waitedMs: Math.round(waitedMs),
      firstFrameMs: firstFrameMs === undefined ? undefined : Math.round(firstFrameMs),
      spokeMs: Math.round(spokeMs),
      warnings: warnings.length > 0 ? warnings : undefined,
      error: error === undefined ? undefined : describe(error),
    }
    c.get('log').info(line, 'speech')
  }

/** No message: those of the packages quote the text. */
export const describe = (error: unknown): { name: string; code: string | undefined } => {
  if (!(error instanceof Error)) return { name: typeof error, code: undefined }
  return { name: error.name, code: 'code' in error ? String(error.code) : undefined }
}
