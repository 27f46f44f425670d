/** Whether a text is still being written: it comes in pieces, and is no string. */
export const isTextStream = (text: unknown): text is AsyncIterable<string> =>
  typeof text === 'object' && text !== null && Symbol.asyncIterator in text
