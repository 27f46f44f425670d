/** A voice of ten seconds, and a text of the longest usual chunk. */
export const voicePositions = 125
export const promptTokens = 50
