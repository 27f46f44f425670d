import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commit, gitSha1, noise, sha256 } from '@tooling/fixtures/hub'
import { describe, expect, it } from 'vitest'
import type { CachedFile } from '../../src/hub/hub.ts'
import { formatHubLocation } from '../../src/hub/location.ts'
import { useHubBench } from './hub/use-hub.ts'

const bench = useHubBench()
const model = noise(10_000)
const config = new TextEncoder().encode('default_temperature: 0.3\n')
const repositories = ['someone/model', 'nobody/nothing']
const folder = (...names: string[]): string => join(bench.cacheDir, 'models--someone--model', ...names)

const fill = async (links: 'symbolic' | 'hard' | 'none' = 'symbolic'): Promise<CachedFile[]> => {
  bench.server.add('someone/model', 'weights/model.safetensors', model)
  bench.server.add('someone/model', 'config.yaml', config, false)
  const hub = bench.open({}, { links })
  await hub.download('hf://someone/model/weights/model.safetensors')
  await hub.download(`hf://someone/model/config.yaml@${commit}`)
  return hub.list(repositories)
}

/** What the Python tools leave: another snapshot of the same contents. */
const addOlderSnapshot = (older = 'b'.repeat(40)): string => {
  const path = folder('snapshots', older, 'model.safetensors')
  mkdirSync(folder('snapshots', older))
  symlinkSync(join('..', '..', 'blobs', sha256(model)), path)
  return path
}

describe('the list', () => {
  it('has places, sizes, refs and hashes', async () => {
    const files = await fill()
    expect(files.map(({ location }) => formatHubLocation(location))).toEqual([
      `hf://someone/model/config.yaml@${commit}`,
      `hf://someone/model/weights/model.safetensors@${commit}`,
    ])
    expect(files.map(({ size }) => size)).toEqual([config.length, model.length])
    expect(files.map(({ etag }) => etag)).toEqual([gitSha1(config), sha256(model)])
    expect(files.map(({ refs }) => refs)).toEqual([['main'], ['main']])
  })

  it('is empty without a cache', async () => {
    expect(await bench.open({ cacheDir: join(bench.cacheDir, 'none') }).list(repositories)).toEqual([])
  })

  it('leaves out links that lead nowhere and folders that are no commit', async () => {
    await fill()
    symlinkSync('../../blobs/gone', folder('snapshots', commit, 'gone.safetensors'))
    mkdirSync(folder('snapshots', 'not-a-commit'))
    writeFileSync(folder('snapshots', 'not-a-commit', 'file'), '')
    expect(await bench.open().list(repositories)).toHaveLength(2)
  })

  it('takes only names of repositories', async () => {
    await expect(bench.open().list(['../../etc'])).rejects.toMatchObject({ code: 'invalid-option' })
  })
})

describe('verification', () => {
  it('finds sound files sound', async () => {
    for (const file of await fill()) expect(await bench.open().verify(file)).toEqual({ state: 'sound' })
  })

  it('finds one changed byte', async () => {
    const [, file] = await fill()
    const changed = model.slice()
    changed[5000]! ^= 1
    writeFileSync(folder('blobs', sha256(model)), changed)
    expect(await bench.open().verify(file!)).toEqual({
      state: 'damaged',
      expected: sha256(model),
      found: sha256(changed),
    })
  })

  it('cannot tell of files that are no links', async () => {
    for (const file of await fill('none'))
      expect(await bench.open().verify(file)).toEqual({ state: 'unverifiable' })
  })

  it('stops when told to', async () => {
    const [file] = await fill()
    const reason = new Error('no more')
    await expect(bench.open().verify(file!, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})

describe('removal', () => {
  it('frees the bytes and leaves no empty folder', async () => {
    const hub = bench.open()
    const [small, large] = await fill()
    expect(await hub.remove(large!)).toBe(model.length)
    expect(existsSync(folder('snapshots', commit, 'weights'))).toBe(false)
    expect(await hub.remove(small!)).toBe(config.length)
    expect(existsSync(folder('snapshots'))).toBe(false)
    expect(readdirSync(folder('blobs'))).toEqual([])
    expect(await hub.list(repositories)).toEqual([])
    await hub.download('hf://someone/model/config.yaml')
  })

  it('keeps contents that another snapshot has', async () => {
    const [, large] = await fill()
    const older = addOlderSnapshot()
    expect(await bench.open().remove(large!)).toBe(0)
    expect(existsSync(older)).toBe(true)
    const [, left] = await bench.open().list(repositories)
    expect(await bench.open().remove(left!)).toBe(model.length)
  })

  it('of hard links removes both', async () => {
    const [, large] = await fill('hard')
    expect(large?.etag).toBe(sha256(model))
    expect(await bench.open().remove(large!)).toBe(model.length)
    expect(readdirSync(folder('blobs'))).toEqual([gitSha1(config)])
  })

  it('of files that are no links frees them', async () => {
    const [, large] = await fill('none')
    expect(await bench.open().remove(large!)).toBe(model.length)
    expect(existsSync(fileURLToPath(large!.file as URL))).toBe(false)
  })

  it('of what was broken off spares what is under way', async () => {
    await fill()
    const locks = join(bench.cacheDir, '.locks', 'models--someone--model')
    writeFileSync(folder('blobs', `${'a'.repeat(64)}.pocket.incomplete`), 'half')
    writeFileSync(folder('blobs', `${'b'.repeat(64)}.pocket.incomplete`), 'under way')
    writeFileSync(join(locks, 'aside.pocket.incomplete'), 'copy')
    writeFileSync(
      join(locks, `${'b'.repeat(64)}.pocket.lock`),
      JSON.stringify({ pid: process.pid, host: hostname(), id: 'x' }),
    )
    const hub = bench.open()
    expect((await hub.report(repositories)).incompleteBytes).toBe(8)
    expect(await hub.removeIncomplete(repositories)).toBe(8)
    expect(await hub.removeIncomplete(repositories)).toBe(0)
    expect(existsSync(folder('blobs', `${'b'.repeat(64)}.pocket.incomplete`))).toBe(true)
    expect(await hub.list(repositories)).toHaveLength(2)
  })
})

describe('the report', () => {
  it('counts contents once, and tells where the token comes from, not what it is', async () => {
    await fill()
    addOlderSnapshot()
    const report = await bench.open({ token: 'hf_secret', offline: true }).report(repositories)
    expect(report).toEqual({
      endpoint: bench.server.endpoint,
      offline: true,
      tokenSource: 'the option',
      cache: bench.cacheDir,
      files: 3,
      bytes: model.length + config.length,
      incompleteBytes: 0,
    })
  })
})
