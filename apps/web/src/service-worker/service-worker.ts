import type { OfflineReport } from './protocol.ts'

/**
 * Written in front of this script by the build: a digest of all files, and their paths. A build with any other file
 * has another digest, which is another cache, which is another script: so browsers notice.
 */
declare const precache: { readonly version: string; readonly files: readonly string[] }
declare const self: ServiceWorkerGlobalScope

const prefix = `pocket ${self.registration.scope} `
const cacheName = prefix + precache.version
const page = self.registration.scope
const urls = new Map(
  precache.files.map((file) => [new URL(file === 'index.html' ? '' : file, page).href, file] as const),
)

/** Weights are fetched when the page asks for them, which they are on its first visit anyway. */
const isLarge = (file: string): boolean => file.endsWith('.safetensors')

/** A file whose name holds its digest never changes. */
const isImmutable = (file: string): boolean => file.startsWith('assets/')

self.addEventListener('install', (event) => {
  event.waitUntil(keep((file) => !isLarge(file)))
})

// A newer version waits until no page of the older one is open; nobody's page loses its files.
self.addEventListener('activate', (event) => {
  event.waitUntil(dropOldCaches().then(() => self.clients.claim()))
})

self.addEventListener('fetch', (event) => {
  const url = event.request.url.replace(/[?#].*/, '').replace(/\/index\.html$/, '/')
  if (event.request.method === 'GET' && urls.has(url)) event.respondWith(answer(url, event))
})

self.addEventListener('message', (event) => {
  if (event.data !== 'keep-all') return
  const reply = (report: OfflineReport) => event.ports[0]?.postMessage(report)
  event.waitUntil(
    keep(() => true).then(
      () => reply({ error: undefined }),
      (error: unknown) => reply({ error: error instanceof Error ? error.message : String(error) }),
    ),
  )
})

const answer = async (url: string, event: FetchEvent): Promise<Response> => {
  const cache = await caches.open(cacheName)
  const kept = await cache.match(url, { ignoreVary: true })
  if (kept) return kept
  const response = await fetch(event.request)
  if (response.status === 200) event.waitUntil(cache.put(url, response.clone()))
  return response
}

/** Takes over what an older version has, and fetches what may be fetched, one file after the other. */
const keep = async (mayFetch: (file: string) => boolean): Promise<void> => {
  const cache = await caches.open(cacheName)
  for (const [url, file] of urls) {
    if (await cache.match(url, { ignoreVary: true })) continue
    const older = isImmutable(file) ? await caches.match(url, { ignoreVary: true }) : undefined
    if (!older && !mayFetch(file)) continue
    const response = older ?? (await fetch(url, { cache: isImmutable(file) ? 'default' : 'no-cache' }))
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
    await cache.put(url, response)
  }
}

const dropOldCaches = async (): Promise<void> => {
  const names = await caches.keys()
  const old = names.filter((name) => name.startsWith(prefix) && name !== cacheName)
  await Promise.all(old.map((name) => caches.delete(name)))
}
