import type { AudioFrame, SpeechEngine } from '@pocket/tts'

/** An engine whose streams are counted: how many are open, and how many frames they have handed over. */
export interface CountingEngine extends SpeechEngine {
  readonly open: number
  readonly frames: number
}

export const counting = (engine: SpeechEngine): CountingEngine => {
  const counts = { open: 0, frames: 0 }
  const count = (stream: AsyncIterableIterator<AudioFrame, void, void>) => {
    let isOpen = true
    counts.open++
    const close = (): void => {
      if (isOpen) counts.open--
      isOpen = false
    }
    return {
      async next() {
        try {
          const next = await stream.next()
          if (next.done) close()
          else counts.frames++
          return next
        } catch (error) {
          close()
          throw error
        }
      },
      async return() {
        close()
        return (await stream.return?.()) ?? { done: true as const, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'open' || name === 'frames') return counts[name]
      if (name === 'stream')
        return (...args: Parameters<SpeechEngine['stream']>) => count(target.stream(...args))
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  }) as CountingEngine
}
