import type { WorkerPlatform } from './link.ts'

/** Pages, and workers that have workers of their own. */
export const worker: WorkerPlatform = {
  startWorker({ onReport, onLost }) {
    // Bundlers find the script by this very form, and give it a place of its own.
    const script = new Worker(new URL('./browser-entry.js', import.meta.url), { type: 'module' })
    script.addEventListener('message', ({ data }) => onReport(data))
    script.addEventListener('messageerror', () => onLost(new Error('a message of it could not be read')))
    script.addEventListener('error', (event) => {
      // Told to whoever waits, so that it is no uncaught error of the page's.
      event.preventDefault()
      onLost(event.error ?? new Error(event.message || 'its script could not be loaded'))
    })
    return {
      post: (command, transfer = []) => script.postMessage(command, transfer),
      setAwaited() {},
      terminate: () => script.terminate(),
    }
  },
  pathForWorker: (path) => new URL(path, globalThis.document?.baseURI ?? globalThis.location.href).href,
}
