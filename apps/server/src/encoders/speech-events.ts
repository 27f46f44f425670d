/** What clients of OpenAI's API call usage: characters of the text come in, frames of 80 ms go out. */
export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
}

/** Bytes of sound as server-sent events, `speech.audio.delta` for each piece and `speech.audio.done` at the end. */
export const speechEvents = (usage: () => Usage): TransformStream<Uint8Array, Uint8Array> => {
  const utf8 = new TextEncoder()
  const event = (data: object): Uint8Array => utf8.encode(`data: ${JSON.stringify(data)}\n\n`)
  return new TransformStream({
    transform: (bytes, controller) => {
      const audio = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
      controller.enqueue(event({ type: 'speech.audio.delta', audio }))
    },
    flush: (controller) => controller.enqueue(event({ type: 'speech.audio.done', usage: usage() })),
  })
}
