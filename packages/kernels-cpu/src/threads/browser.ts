import type { ThreadPlatform } from './thread.ts'

/** Pages, and workers of pages. */
export const threads: ThreadPlatform = {
  obstacle: () =>
    globalThis.crossOriginIsolated
      ? undefined
      : 'the page is not cross-origin isolated, so that its threads cannot share memory (see the headers ' +
        'Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy)',
  startThread(job, { onReady, onLost }) {
    // Bundlers find the script by this very form, and give it a place of its own.
    const thread = new Worker(new URL('./kernel-thread.js', import.meta.url), { type: 'module' })
    thread.addEventListener('message', onReady, { once: true })
    thread.addEventListener('messageerror', () => onLost(new Error('its memory could not be shared')))
    thread.addEventListener('error', (event) => {
      // Told to whoever waits, so that it is no uncaught error of the page's.
      event.preventDefault()
      onLost(event.error ?? new Error(event.message || 'its script could not be loaded'))
    })
    thread.postMessage(job)
    return { terminate: () => thread.terminate() }
  },
}
