import type { OfflineReport } from './service-worker/protocol.ts'

/** A page waits this long at most for its service worker, in milliseconds: it speaks without one as well. */
const patience = 3000

/** Begun before the model loads, so that its files are fetched once: for the page and for later. */
export const startServiceWorker = async (): Promise<void> => {
  // Vite's development server changes files under their names; a cache would only be in the way.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return
  const controlled = new Promise<void>((resolve) => {
    if (navigator.serviceWorker.controller) resolve()
    else navigator.serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true })
  })
  try {
    await navigator.serviceWorker.register(new URL('service-worker.js', document.baseURI))
    await Promise.race([controlled, new Promise((resolve) => setTimeout(resolve, patience))])
  } catch {
    // Private windows and plain http forbid service workers. The page says so under "Works offline".
  }
}

/** Has everything kept that a later visit may need. Says what came of it, for the user to read. */
export const keepForOffline = async (): Promise<string> => {
  const worker = globalThis.navigator.serviceWorker?.controller
  if (!worker) return 'no: this browser keeps nothing here'
  const { port1, port2 } = new MessageChannel()
  const report = new Promise<OfflineReport>((resolve) => {
    port1.onmessage = ({ data }) => resolve(data)
  })
  worker.postMessage('keep-all', [port2])
  const { error } = await report
  return error === undefined ? 'yes' : `not yet: ${error}`
}
