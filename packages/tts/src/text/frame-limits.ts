/** Speech is taken to hold at least three tokens a second; two seconds more are always granted. */
const TOKENS_PER_SECOND = 3
const EXTRA_SECONDS = 2

/**
 * The most frames that a chunk may last: `ceil((tokens / 3 + 2) · frameRate)`, the reference's guard against
 * speech whose end the model never announces.
 *
 * @param tokens of the chunk's text, without the voice
 * @param frameRate frames a second
 */
export const maxFramesForTokens = (tokens: number, frameRate = 12.5): number =>
  Math.ceil((tokens / TOKENS_PER_SECOND + EXTRA_SECONDS) * frameRate)

/**
 * Frames generated after the model has announced the end of speech, when neither the caller nor the
 * checkpoint gives a number. The reference adds two to the guess of `prepareText`.
 */
export const framesAfterEosFromGuess = (framesAfterEosGuess: number): number => framesAfterEosGuess + 2
