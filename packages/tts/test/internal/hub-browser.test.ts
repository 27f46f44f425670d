import {
  answer,
  commit,
  corrupt,
  dropAfter,
  endless,
  gitSha1,
  HubServer,
  noise,
  otherLength,
  sha256,
  slowly,
  stallAfter,
  token,
} from '@tooling/fixtures/hub'
import { Response as CacheResponse, caches } from 'undici'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type BlobStore, CacheBlobStore, MemoryBlobStore } from '../../src/hub/browser/blob-store.ts'
import { BrowserHub } from '../../src/hub/browser/browser-hub.ts'
import type { CachedFile, HubFile, HubTuning } from '../../src/hub/hub.ts'
import { formatHubLocation } from '../../src/hub/location.ts'
import type { DownloadProgress } from '../../src/hub/progress.ts'
import type { HubSettings } from '../../src/hub/settings.ts'

const large = noise(300_000)
const small = new TextEncoder().encode('a: 1\n')
const pinned = `hf://someone/model/weights/model.safetensors@${commit}`
const latest = 'hf://someone/model/weights/model.safetensors'
const repositories = ['someone/model']

/** Cache storage as the standard has it, by undici, and what stands in for it on pages that have none. */
const stores: [string, () => BlobStore][] = [
  ['cache storage', () => new CacheBlobStore(caches as unknown as CacheStorage, 'pocket-test')],
  ['memory', () => new MemoryBlobStore()],
]

describe.each(stores)('the hub in a browser, with %s', (_, createStore) => {
  let server: HubServer
  let store: BlobStore
  let waits: number[]

  beforeEach(async () => {
    // The one that undici's cache storage knows.
    vi.stubGlobal('Response', CacheResponse)
    server = await HubServer.start()
    server.add('someone/model', 'weights/model.safetensors', large)
    server.add('someone/model', 'config.yaml', small, false)
    store = createStore()
    waits = []
  })
  afterEach(async () => {
    vi.unstubAllGlobals()
    await server.stop()
    await caches.delete('pocket-test')
  })

  const open = (settings: Partial<HubSettings> = {}, tuning: HubTuning = {}): BrowserHub => {
    const { endpoint } = server
    const wait = async (ms: number): Promise<void> => {
      waits.push(ms)
    }
    return new BrowserHub(
      { endpoint, token: undefined, tokenSource: undefined, offline: false, ...settings },
      store,
      { partBytes: 50_000, stallMs: 2000, retries: { attempts: 5, wait }, ...tuning },
    )
  }
  const read = async ({ file }: HubFile): Promise<Uint8Array> =>
    new Uint8Array(await (file as Blob).arrayBuffer())
  const keys = async (prefix: string): Promise<string[]> =>
    (await store.keys()).filter((key) => key.startsWith(prefix))

  it('fetches a file once, in parts', async () => {
    const heard: DownloadProgress[] = []
    const file = await open().download(latest, { onProgress: (progress) => heard.push(progress) })
    expect(await read(file)).toEqual(large)
    expect(file.size).toBe(large.length)
    expect((await keys('parts/')).length).toBeGreaterThanOrEqual(4)
    expect(heard.at(-1)).toMatchObject({ loadedBytes: large.length, totalBytes: large.length })
    expect(await read(await open().download(latest))).toEqual(large)
    expect(server.bodies()).toHaveLength(1)
  })

  it('verifies what git keeps itself by the hash of git', async () => {
    expect(await read(await open().download('hf://someone/model/config.yaml'))).toEqual(small)
    expect(await keys('parts/')).toEqual([`parts/someone/model/${gitSha1(small)}/0`])
  })

  it('needs no network for a commit, and none for a branch offline', async () => {
    await open().download(pinned)
    await open().download(latest)
    const before = server.seen.length
    expect(await read(await open().download(pinned))).toEqual(large)
    expect(await read(await open({ offline: true }).download(latest))).toEqual(large)
    expect(server.seen.length).toBe(before)
    expect(server.bodies()).toHaveLength(1)
    await expect(open({ offline: true }).download('hf://someone/model/config.yaml')).rejects.toMatchObject({
      code: 'offline',
    })
  })

  it('follows a branch, and settles for what it has while the hub is away', async () => {
    await open().download(latest)
    const newer = noise(1000, 7)
    server.add('someone/model', 'weights/model.safetensors', newer)
    expect(await read(await open().download(latest))).toEqual(newer)
    server.refusal = { status: 503 }
    expect(await read(await open().download(latest))).toEqual(newer)
    expect(waits).toEqual([])
  })

  it('takes up a download that broke, in the next run too', async () => {
    server.always = dropAfter(0)
    server.misbehaviours.push(dropAfter(200_000))
    await expect(open().download(latest)).rejects.toMatchObject({ code: 'download-failed' })
    expect(await open().find(latest)).toBeUndefined()
    const { incompleteBytes } = await open().report(repositories)
    expect(incompleteBytes).toBeGreaterThan(0)
    server.always = undefined
    expect(await read(await open().download(latest))).toEqual(large)
    expect(server.bodies().at(-1)?.range).toBe(`bytes=${incompleteBytes}-`)
    expect(server.seen.every(({ ifRange }) => ifRange === undefined)).toBe(true)
    expect((await open().report(repositories)).incompleteBytes).toBe(0)
  })

  it('keeps nothing that is wrong', async () => {
    server.always = corrupt
    await expect(open().download(latest)).rejects.toMatchObject({ code: 'checksum-mismatch' })
    server.always = otherLength(10)
    await expect(open().download(latest)).rejects.toThrow(/announced 300000 bytes/)
    expect(await store.keys()).toEqual([])
    server.always = endless
    expect(await read(await open().download(latest))).toEqual(large)
  })

  it('knows parts of an earlier run that are wrong', async () => {
    await store.put(`parts/someone/model/${sha256(large)}/0`, new Blob([noise(300_000, 9)]))
    expect(await read(await open().download(latest))).toEqual(large)
    expect(server.bodies().map(({ range }) => range)).toEqual([undefined])
  })

  it('misses a part that the browser threw away', async () => {
    await open().download(pinned)
    await store.delete(`parts/someone/model/${sha256(large)}/2`)
    expect(await open().find(pinned)).toBeUndefined()
    expect(await read(await open().download(pinned))).toEqual(large)
    expect(server.bodies().at(-1)?.range).toMatch(/^bytes=\d+-$/)
  })

  it('waits as told, and stops when told', async () => {
    server.misbehaviours.push(answer(429, { 'retry-after': '3' }))
    await open().download(latest)
    expect(waits).toEqual([3000])
    server.always = stallAfter(0)
    const signal = AbortSignal.timeout(50)
    await expect(open().download('hf://someone/model/config.yaml', { signal })).rejects.toThrow(/timeout/)
  })

  it('shares a download between callers', async () => {
    server.always = slowly(50_000, 10)
    const hub = open()
    const files = await Promise.all([hub.download(latest), hub.download(latest), open().download(latest)])
    for (const file of files) expect(await read(file)).toEqual(large)
    expect(server.bodies()).toHaveLength(1)
  })

  it('shows the token to the hub alone, and says who grants access', async () => {
    server.gate('someone/model')
    await expect(open().download(latest)).rejects.toMatchObject({
      name: 'PocketTtsError',
      code: 'access-denied',
    })
    await open({ token }).download(latest)
    expect(server.seen.at(-1)).toMatchObject({ host: 'cdn', authorization: undefined })
  })

  it.each([
    ['hf://someone/model/nothing.safetensors', 'the revision has no such file'],
    ['hf://some--one/model/a', "may not hold '--'"],
  ])('refuses %s', async (place, problem) => {
    await expect(open().download(place)).rejects.toThrow(problem)
  })

  describe('keeps house', () => {
    let files: CachedFile[]
    beforeEach(async () => {
      for (const place of [latest, pinned, 'hf://someone/model/config.yaml']) await open().download(place)
      files = await open().list(repositories)
    })

    it('lists, reports, verifies', async () => {
      expect(files.map(({ location }) => formatHubLocation(location))).toEqual([
        'hf://someone/model/config.yaml@main',
        pinned,
        `${latest}@main`,
      ])
      expect(files.map(({ refs }) => refs)).toEqual([['main'], [], ['main']])
      expect(await open().report(repositories)).toMatchObject({
        cache: store.name,
        files: 3,
        bytes: large.length + small.length,
        incompleteBytes: 0,
      })
      expect(await open().list(['nobody/nothing'])).toEqual([])
      for (const file of files) expect(await open().verify(file)).toEqual({ state: 'sound' })
      const damaged = { ...files[1]!, file: new Blob([noise(300_000, 5)]) }
      expect(await open().verify(damaged)).toMatchObject({ state: 'damaged', expected: sha256(large) })
    })

    it('removes contents with the last place that has them', async () => {
      expect(await open().remove(files[1]!)).toBe(0)
      expect(await open().remove(files[2]!)).toBe(large.length)
      expect(await open().remove(files[0]!)).toBe(small.length)
      expect(await store.keys()).toEqual([])
    })

    it('removes what was broken off', async () => {
      await store.put(`parts/someone/model/${'a'.repeat(64)}/0`, new Blob(['half']))
      await store.put(`parts/nobody/nothing/${'a'.repeat(64)}/0`, new Blob(['of another']))
      expect(await open().removeIncomplete(repositories)).toBe(4)
      expect(await open().removeIncomplete(repositories)).toBe(0)
      expect(await open().list(repositories)).toHaveLength(3)
    })
  })
})

describe('a store that is full', () => {
  it('says so', async () => {
    const full = {
      open: async () => ({
        put: async () => {
          throw new DOMException('Quota exceeded', 'QuotaExceededError')
        },
      }),
    }
    const store = new CacheBlobStore(full as unknown as CacheStorage, 'full')
    await expect(store.put('a', new Blob(['abc']))).rejects.toMatchObject({
      name: 'PocketTtsError',
      code: 'cache-failed',
    })
  })
})
