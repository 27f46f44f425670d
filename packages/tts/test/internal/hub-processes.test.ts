import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commit, noise, sha256, slowly } from '@tooling/fixtures/hub'
import { describe, expect, it } from 'vitest'
import { spawnDownload, useSpawnedDownloads } from './hub/spawn-download.ts'
import { useHubBench } from './hub/use-hub.ts'

const bench = useHubBench()
useSpawnedDownloads()
const bytes = noise(2_000_000)
const hash = sha256(bytes)
const place = `hf://someone/model/model.safetensors@${commit}`
const add = () => bench.server.add('someone/model', 'model.safetensors', bytes)
const inCache = (...names: string[]): string => join(bench.cacheDir, 'models--someone--model', ...names)
const blob = (): string => inCache('blobs', hash)
const lock = (): string => join(bench.cacheDir, '.locks', 'models--someone--model', `${hash}.pocket.lock`)

/** Whatever happened: a file that can be found is the file. */
const expectSound = async (): Promise<void> => {
  if (existsSync(blob())) expect(sha256(readFileSync(blob()))).toBe(hash)
  const found = await bench.open().find(place)
  if (found) expect(sha256(readFileSync(fileURLToPath(found.file as URL)))).toBe(hash)
}

const expectWhole = async (): Promise<void> => {
  await bench.open().download(place)
  expect(await bench.open().find(place)).toBeDefined()
  await expectSound()
  expect(readdirSync(inCache('blobs'))).toEqual([hash])
  expect(existsSync(lock())).toBe(false)
}

/** Starts a download in a process of its own and kills it so long after it asked for the bytes. */
const killAfter = async (ms: number): Promise<void> => {
  const asked = bench.server.bodies().length
  const { child, ended } = spawnDownload(bench.server.endpoint, bench.cacheDir, place)
  let over = false
  void ended.then(() => {
    over = true
  })
  while (!over && bench.server.bodies().length === asked) await delay(1)
  await delay(ms)
  child.kill('SIGKILL')
  await ended
}

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('a process that is killed', () => {
  it('in the middle of a file, ten times, leaves what the next one goes on with', async () => {
    add()
    bench.server.always = slowly(8192, 4)
    for (let kill = 0; kill < 10; kill++) {
      await killAfter(Math.random() * 80)
      await expectSound()
    }
    bench.server.always = undefined
    await expectWhole()
    expect(bench.server.bodies().some(({ range }) => range !== undefined)).toBe(true)
  }, 20_000)

  it('near the end of a file, ten times, leaves the whole file or none', async () => {
    add()
    for (let kill = 0; kill < 10; kill++) {
      await killAfter(Math.random() * 40)
      await expectSound()
    }
    await expectWhole()
  }, 20_000)
})

describe('two processes', () => {
  it('that want the same file fetch it once', async () => {
    add()
    bench.server.always = slowly(100_000, 20)
    const both = [1, 2].map(() => spawnDownload(bench.server.endpoint, bench.cacheDir, place).ended)
    for (const { output, errors, code } of await Promise.all(both)) {
      expect(errors).toBe('')
      expect(code).toBe(0)
      expect(fileURLToPath(output)).toBe(inCache('snapshots', commit, 'model.safetensors'))
    }
    expect(bench.server.bodies()).toHaveLength(1)
    await expectSound()
  }, 20_000)
})

describe('a lock', () => {
  const hold = async (owner: object | string, age = 0): Promise<void> => {
    await mkdir(dirname(lock()), { recursive: true })
    writeFileSync(lock(), typeof owner === 'string' ? owner : JSON.stringify(owner))
    const then = new Date(Date.now() - age)
    await utimes(lock(), then, then)
  }
  /** No process has it: Linux stops at 2^22, others before. */
  const deadPid = 2 ** 30
  const elsewhere = { pid: 1, host: 'another-machine.example', id: 'x' }

  it.each([
    ['of a process that died', { pid: deadPid, host: hostname(), id: 'x' }, 0],
    ['of another machine that fell silent', elsewhere, 61_000],
    ['of a process that is too long silent', { pid: process.pid, host: hostname(), id: 'x' }, 61_000],
    ['that names nobody, of long ago', '{"pid":', 61_000],
  ])('%s is taken over', async (_, owner, age) => {
    add()
    await hold(owner, age)
    await expectWhole()
  })

  it.each([
    ['of a living process', { pid: process.pid, host: hostname(), id: 'x' }],
    ['of another machine', elsewhere],
    ['that is just being written', ''],
  ])('%s is waited for, with its progress', async (_, owner) => {
    add()
    await hold(owner)
    await mkdir(inCache('blobs'), { recursive: true })
    writeFileSync(`${blob()}.pocket.incomplete`, bytes.subarray(0, 1000))
    let waiting: Promise<unknown> | undefined
    const heard = await new Promise<number>((resolve) => {
      waiting = bench.open().download(place, { onProgress: ({ loadedBytes }) => resolve(loadedBytes) })
    })
    expect(heard).toBe(1000)
    expect(bench.server.bodies()).toEqual([])
    // Its owner finishes, and lets go.
    writeFileSync(blob(), bytes)
    writeFileSync(lock(), JSON.stringify({ pid: deadPid, host: hostname(), id: 'x' }))
    await waiting
    expect(bench.server.bodies()).toEqual([])
  })

  it('is waited for no longer than the caller wants', async () => {
    add()
    await hold(elsewhere)
    await expect(bench.open().download(place, { signal: AbortSignal.timeout(50) })).rejects.toThrow(/timeout/)
    expect(existsSync(lock())).toBe(true)
  })
})
