/** The chunk that a source is in. Throws where its caller has begun none. */
export const currentChunk = <Chunk>(chunk: Chunk | undefined): Chunk => {
  if (chunk !== undefined) return chunk
  throw new Error('a frame was asked for outside start() and end()')
}
