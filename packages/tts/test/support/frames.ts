export const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Frames that something else makes: `count` of them, of four samples each that say which they are. */
export const framesOf = (count: number) => {
  const seen = { made: 0, ended: false }
  async function* make(): AsyncGenerator<{ pcm: Float32Array }, void> {
    try {
      while (seen.made < count) yield { pcm: new Float32Array(4).fill(++seen.made / 100) }
    } finally {
      seen.ended = true
    }
  }
  return { frames: make(), seen }
}
