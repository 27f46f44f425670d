import type { Warning } from '../generate/utterance.ts'

/** The warning of weights without voice cloning; `reason` says why the others could not be had. */
export const withoutVoiceCloning = (reason: string): Warning => ({
  code: 'no-voice-cloning',
  message: `voices cannot be cloned: the weights that can could not be had. ${reason}`,
})
