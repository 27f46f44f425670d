import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commit, gitSha1, noise, sha256, slowly, token } from '@tooling/fixtures/hub'
import { describe, expect, it } from 'vitest'
import type { HubFile } from '../../src/hub/hub.ts'
import type { DownloadProgress } from '../../src/hub/progress.ts'
import { useHubBench } from './hub/use-hub.ts'

const bench = useHubBench()
const large = noise(300_000)
const pinned = `hf://someone/model/weights/model.safetensors@${commit}`
const latest = 'hf://someone/model/weights/model.safetensors'

const read = ({ file }: HubFile): Uint8Array => new Uint8Array(readFileSync(fileURLToPath(file as URL)))
const repository = (...names: string[]): string => join(bench.cacheDir, 'models--someone--model', ...names)
const addLarge = () => bench.server.add('someone/model', 'weights/model.safetensors', large)

describe('a download', () => {
  it('has the layout that all tools of the hub share', async () => {
    addLarge()
    const file = await bench.open().download(latest)
    expect(read(file)).toEqual(large)
    expect(file).toMatchObject({ size: large.length, location: { revision: commit } })
    const pointer = repository('snapshots', commit, 'weights', 'model.safetensors')
    expect(fileURLToPath(file.file as URL)).toBe(pointer)
    expect(readlinkSync(pointer)).toBe(join('..', '..', '..', 'blobs', sha256(large)))
    expect(readFileSync(repository('refs', 'main'), 'utf8')).toBe(commit)
    expect(readdirSync(repository('blobs'))).toEqual([sha256(large)])
    expect(readdirSync(join(bench.cacheDir, '.locks', 'models--someone--model'))).toEqual([])
  })

  it('verifies what git keeps itself by the hash of git', async () => {
    const small = new TextEncoder().encode('a: 1\n')
    bench.server.add('someone/model', 'config.yaml', small, false)
    const file = await bench.open().download('hf://someone/model/config.yaml')
    expect(read(file)).toEqual(small)
    expect(readdirSync(repository('blobs'))).toEqual([gitSha1(small)])
  })

  it('of nothing is an empty file', async () => {
    bench.server.add('someone/model', 'empty', new Uint8Array(0))
    const file = await bench.open().download('hf://someone/model/empty')
    expect(file.size).toBe(0)
    expect(bench.server.bodies()).toEqual([])
  })

  it('of a commit needs no network the second time', async () => {
    addLarge()
    await bench.open().download(pinned)
    const before = bench.server.seen.length
    expect(read(await bench.open().download(pinned))).toEqual(large)
    expect(bench.server.seen.length).toBe(before)
  })

  it('of a branch asks whether it has moved, and fetches only then', async () => {
    addLarge()
    await bench.open().download(latest)
    await bench.open().download(latest)
    expect(bench.server.bodies()).toHaveLength(1)
    const newer = noise(1000, 7)
    bench.server.add('someone/model', 'weights/model.safetensors', newer)
    expect(read(await bench.open().download(latest))).toEqual(newer)
    expect(bench.server.bodies()).toHaveLength(2)
  })

  it('of a branch is the last known one while the hub cannot be reached', async () => {
    addLarge()
    await bench.open().download(latest)
    bench.server.refusal = { status: 503 }
    expect(read(await bench.open().download(latest))).toEqual(large)
    expect(bench.waits).toEqual([])
  })

  it('shares contents between revisions', async () => {
    addLarge()
    await bench.open().download(latest)
    await bench.open().download(pinned)
    bench.server.add('someone/model', 'copy.safetensors', large)
    await bench.open().download('hf://someone/model/copy.safetensors')
    expect(bench.server.bodies()).toHaveLength(1)
    expect(readdirSync(repository('blobs'))).toHaveLength(1)
  })

  it('is a hard link where symbolic ones are not allowed', async () => {
    addLarge()
    const { file } = await bench.open({}, { links: 'hard' }).download(latest)
    const [pointer, blob] = [fileURLToPath(file as URL), repository('blobs', sha256(large))].map((path) =>
      lstatSync(path),
    )
    expect(pointer).toMatchObject({ ino: blob?.ino, nlink: 2 })
    await bench.open({}, { links: 'hard' }).download(latest)
    expect(bench.server.bodies()).toHaveLength(1)
  })

  it('is the file itself where there are no links at all', async () => {
    addLarge()
    const hub = bench.open({}, { links: 'none' })
    const file = await hub.download(latest)
    expect(lstatSync(fileURLToPath(file.file as URL))).toMatchObject({ nlink: 1, size: large.length })
    expect(read(file)).toEqual(large)
    expect(readdirSync(repository('blobs'))).toEqual([])
    await hub.download(latest)
    expect(bench.server.bodies()).toHaveLength(1)
  })
})

describe('callers', () => {
  it('of one file share a download', async () => {
    addLarge()
    const [hub, other] = [bench.open(), bench.open()]
    const files = await Promise.all([hub.download(latest), hub.download(latest), other.download(latest)])
    for (const file of files) expect(read(file)).toEqual(large)
    expect(bench.server.bodies()).toHaveLength(1)
  })

  it('hear of bytes, total and rate, up to the last byte', async () => {
    addLarge()
    bench.server.always = slowly(30_000, 20)
    const heard: DownloadProgress[] = []
    await bench.open().download(latest, { onProgress: (progress) => heard.push(progress) })
    expect(heard[0]).toMatchObject({ loadedBytes: 0, totalBytes: large.length, bytesPerSecond: 0 })
    expect(heard.at(-1)).toMatchObject({ loadedBytes: large.length, totalBytes: large.length })
    expect(heard.at(-1)!.bytesPerSecond).toBeGreaterThan(0)
    expect(heard.map(({ loadedBytes }) => loadedBytes)).toEqual(
      heard.map(({ loadedBytes }) => loadedBytes).sort((a, b) => a - b),
    )
    expect(new Set(heard.map(({ file }) => file))).toEqual(new Set([`${latest}@main`]))
  })

  it('stop one by one; the download stops with the last, and goes on later', async () => {
    addLarge()
    bench.server.misbehaviours.push(slowly(20_000, 20))
    const [first, second] = [new AbortController(), new AbortController()]
    const hub = bench.open()
    const leaving = hub.download(latest, { signal: first.signal })
    let onProgress: ((progress: DownloadProgress) => void) | undefined
    const arrived = new Promise<void>((resolve) => {
      onProgress = ({ loadedBytes }) => {
        if (loadedBytes > 0) resolve()
      }
    })
    const staying = hub.download(latest, { signal: second.signal, onProgress })
    await arrived
    first.abort(new Error('changed my mind'))
    await expect(leaving).rejects.toThrow('changed my mind')
    second.abort(new Error('me too'))
    await expect(staying).rejects.toThrow('me too')
    expect(await hub.find(latest)).toBeUndefined()
    expect(read(await hub.download(latest))).toEqual(large)
    expect(bench.server.bodies()[1]?.range).toMatch(/^bytes=[1-9]\d*-$/)
  })

  it('that have stopped already ask nothing', async () => {
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(bench.open().download(latest, { signal })).rejects.toThrow('too late')
    expect(bench.server.seen).toEqual([])
  })
})

describe('offline', () => {
  it('finds what is there, by commit and by branch', async () => {
    addLarge()
    await bench.open().download(latest)
    const before = bench.server.seen.length
    const hub = bench.open({ offline: true })
    expect(read(await hub.download(pinned))).toEqual(large)
    expect(read(await hub.download(latest))).toEqual(large)
    expect(bench.server.seen.length).toBe(before)
  })

  it('refuses the rest without asking', async () => {
    const refused = bench.open({ offline: true }).download(latest)
    await expect(refused).rejects.toMatchObject({ name: 'PocketTtsError', code: 'offline' })
    await expect(refused).rejects.toThrow(/not in the cache.*HF_HUB_OFFLINE/)
    expect(bench.server.seen).toEqual([])
  })
})

describe('a token', () => {
  it('opens a gated repository, and stays with the hub', async () => {
    addLarge()
    bench.server.gate('someone/model')
    await bench.open({ token }).download(latest)
    const { seen } = bench.server
    expect(seen.filter(({ host }) => host === 'hub').map(({ authorization }) => authorization)).toEqual([
      `Bearer ${token}`,
      `Bearer ${token}`,
    ])
    const others = seen.filter(({ host }) => host === 'cdn')
    expect(others).toHaveLength(1)
    expect(others[0]?.authorization).toBeUndefined()
  })

  it('is not in any message', async () => {
    bench.server.gate('someone/model')
    const refused = bench.open({ token: 'hf_of_somebody_else' }).download(latest)
    await expect(refused).rejects.toThrow(/403/)
    await expect(refused).rejects.not.toThrow(/hf_of_somebody_else/)
  })
})
