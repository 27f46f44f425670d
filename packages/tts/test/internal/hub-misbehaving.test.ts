import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  answer,
  corrupt,
  dropAfter,
  endAfter,
  endless,
  HubServer,
  ignoreRange,
  noise,
  otherLength,
  otherPart,
  redirectTo,
  sha256,
  slowly,
  stallAfter,
  token,
} from '@tooling/fixtures/hub'
import { describe, expect, it } from 'vitest'
import { useHubBench } from './hub/use-hub.ts'

const bench = useHubBench()
const bytes = noise(1_000_000)
const place = 'hf://someone/model/model.safetensors'
const blobs = (): string => join(bench.cacheDir, 'models--someone--model', 'blobs')
const incomplete = (): string => join(blobs(), `${sha256(bytes)}.pocket.incomplete`)
const add = () => bench.server.add('someone/model', 'model.safetensors', bytes)

const expectWhole = async (): Promise<void> => {
  const { file } = await bench.open().download(place)
  expect(sha256(readFileSync(fileURLToPath(file as URL)))).toBe(sha256(bytes))
}

const expectNothingKept = async (): Promise<void> => {
  expect(existsSync(join(blobs(), sha256(bytes)))).toBe(false)
  expect(await bench.open().find(place)).toBeUndefined()
}

const ranges = (): (string | undefined)[] => bench.server.bodies().map(({ range }) => range)

describe('a connection that drops', () => {
  it('is taken up where it broke', async () => {
    add()
    bench.server.misbehaviours.push(dropAfter(300_000), dropAfter(300_000))
    await expectWhole()
    const bodies = bench.server.bodies()
    const starts = bodies.map(({ range }) => Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0))
    // The last bytes before a break may be lost on the way; what was kept is not asked for again.
    expect(starts).toHaveLength(3)
    expect(starts[1]).toBeGreaterThan(starts[0]!)
    expect(starts[2]).toBeGreaterThan(starts[1]!)
    expect(bodies[1]?.ifRange).toBe(`"cdn-${sha256(bytes).slice(0, 8)}"`)
  })

  it('is taken up by the next run too', async () => {
    add()
    bench.server.always = dropAfter(0)
    bench.server.misbehaviours.push(dropAfter(300_000))
    await expect(bench.open().download(place)).rejects.toMatchObject({ code: 'download-failed' })
    await expectNothingKept()
    const kept = statSync(incomplete()).size
    expect(kept).toBeGreaterThan(0)
    bench.server.always = undefined
    await expectWhole()
    expect(ranges().at(-1)).toBe(`bytes=${kept}-`)
    expect(existsSync(incomplete())).toBe(false)
  })

  it('makes another start where the file has changed meanwhile', async () => {
    add()
    bench.server.misbehaviours.push(dropAfter(300_000, '"an older version"'))
    await expectWhole()
    expect(bench.server.bodies()[1]?.ifRange).toBe('"an older version"')
  })

  it('is given up after five times without a byte, with pauses that grow', async () => {
    add()
    bench.server.always = dropAfter(0)
    const failed = bench.open().download(place)
    await expect(failed).rejects.toMatchObject({ name: 'PocketTtsError', code: 'download-failed' })
    await expect(failed).rejects.toThrow(/gave up after 5 attempts/)
    expect(bench.server.bodies()).toHaveLength(5)
    expect(bench.waits).toHaveLength(4)
    expect(bench.waits).toEqual([...bench.waits].sort((a, b) => a - b))
  })

  it('is given up though every attempt brings a little', async () => {
    add()
    bench.server.always = dropAfter(10)
    await expect(bench.open().download(place)).rejects.toThrow(/gave up/)
    expect(bench.server.bodies()).toHaveLength(5)
  })
})

describe('a body of a wrong length', () => {
  it.each([
    ['longer', otherLength(bytes.length + 1)],
    ['shorter', otherLength(bytes.length - 1)],
    ['ending early', endAfter(1000)],
  ])('%s is tried again', async (_, misbehaviour) => {
    add()
    bench.server.misbehaviours.push(misbehaviour)
    await expectWhole()
  })

  it('is refused in the end, and nothing of it kept', async () => {
    add()
    bench.server.always = otherLength(bytes.length - 1)
    await expect(bench.open().download(place)).rejects.toThrow(/announced 1000000 bytes.*offers 999999/)
    await expectNothingKept()
  })

  it('without end is read up to the announced size', async () => {
    add()
    bench.server.misbehaviours.push(endless)
    await expectWhole()
  })

  it('without end and without an announced size is bounded', async () => {
    add()
    bench.server.announce = { 'x-linked-size': undefined }
    bench.server.always = endless
    const failed = bench.open({}, { maxBytes: 5_000_000 }).download(place)
    await expect(failed).rejects.toMatchObject({ code: 'download-failed' })
    await expect(failed).rejects.toThrow(/5000000 bytes, the most/)
    await expectNothingKept()
    expect(existsSync(incomplete())).toBe(false)
  })

  it('without an announced size is verified all the same', async () => {
    add()
    bench.server.announce = { 'x-linked-size': undefined }
    await expectWhole()
  })

  it('announced as larger than anything may be is not asked for', async () => {
    add()
    const failed = bench.open({}, { maxBytes: 999_999 }).download(place)
    await expect(failed).rejects.toThrow(/has 1000000 bytes/)
    expect(bench.server.bodies()).toEqual([])
  })
})

describe('wrong bytes', () => {
  it('are thrown away', async () => {
    add()
    bench.server.always = corrupt
    const failed = bench.open().download(place)
    await expect(failed).rejects.toMatchObject({ code: 'checksum-mismatch' })
    await expect(failed).rejects.toThrow(new RegExp(`expected ${sha256(bytes)}`))
    await expectNothingKept()
    expect(existsSync(incomplete())).toBe(false)
    expect(bench.server.bodies()).toHaveLength(1)
  })

  it('that an earlier run left are fetched anew', async () => {
    add()
    await mkdir(blobs(), { recursive: true })
    writeFileSync(incomplete(), noise(500_000, 99))
    await expectWhole()
    expect(ranges()).toEqual(['bytes=500000-', undefined])
  })

  it.each([
    ['all of the right ones', bytes, []],
    ['more than there are', noise(1_000_001, 99), [undefined]],
    ['as many as there are', noise(1_000_000, 99), [undefined]],
  ])('or %s that an earlier run left are told apart', async (_, left, asked) => {
    add()
    await mkdir(blobs(), { recursive: true })
    writeFileSync(incomplete(), left)
    await expectWhole()
    expect(ranges()).toEqual(asked)
  })

  it('in the cache, of another size, are replaced', async () => {
    add()
    await mkdir(blobs(), { recursive: true })
    writeFileSync(join(blobs(), sha256(bytes)), 'cut')
    await expectWhole()
  })
})

describe('a server that cannot do ranges', () => {
  it.each([
    ['sends all', ignoreRange],
    ['sends another part', otherPart],
    ['has no such part', answer(416)],
  ])('and %s is coped with', async (_, misbehaviour) => {
    add()
    bench.server.misbehaviours.push(dropAfter(300_000), misbehaviour)
    await expectWhole()
  })
})

describe('a busy server', () => {
  it('is left alone for as long as it wants', async () => {
    add()
    bench.server.misbehaviours.push(answer(429, { 'retry-after': '7' }), answer(503), answer(500))
    await expectWhole()
    expect(bench.waits).toHaveLength(3)
    expect(bench.waits[0]).toBe(7000)
    expect(bench.waits[1]).toBeLessThan(7000)
  })

  it('that wants an hour is not waited for', async () => {
    add()
    bench.server.misbehaviours.push(answer(429, { 'retry-after': '3600' }))
    await expect(bench.open().download(place)).rejects.toThrow(/429.*asks to wait 3600 s/)
    expect(bench.waits).toEqual([])
  })

  it('may be busy before the download too', async () => {
    add()
    bench.server.refusal = { status: 502 }
    await expect(bench.open().download(place)).rejects.toThrow(/502; gave up after 5 attempts/)
    expect(bench.server.seen).toHaveLength(5)
  })

  it('that says no is not asked again', async () => {
    add()
    bench.server.misbehaviours.push(answer(400))
    await expect(bench.open().download(place)).rejects.toThrow(/answered 400/)
    expect(bench.server.bodies()).toHaveLength(1)
  })

  it('that is not there is named', async () => {
    const gone = await HubServer.start()
    const { endpoint } = gone
    await gone.stop()
    const failed = bench.open({ endpoint }).download(place)
    await expect(failed).rejects.toMatchObject({ code: 'download-failed' })
    await expect(failed).rejects.toThrow(new URL(endpoint).host)
  })
})

describe('silence', () => {
  it('in the middle is a broken connection', async () => {
    add()
    bench.server.misbehaviours.push(stallAfter(300_000))
    const { size } = await bench.open({}, { stallMs: 200 }).download(place)
    expect(size).toBe(bytes.length)
    expect(ranges()[1]).toMatch(/^bytes=\d+-$/)
  })

  it('from the start is one too', async () => {
    add()
    bench.server.misbehaviours.push(() => {})
    const { size } = await bench.open({}, { stallMs: 200 }).download(place)
    expect(size).toBe(bytes.length)
  })

  it.each([
    ['slow', slowly(10_000, 20)],
    ['silent', stallAfter(1000)],
    ['mute', () => {}],
  ])('a %s server does not hold up who wants to leave', async (_, misbehaviour) => {
    add()
    bench.server.always = misbehaviour
    const controller = new AbortController()
    const leaving = bench.open({}, { stallMs: 60_000 }).download(place, { signal: controller.signal })
    setTimeout(() => controller.abort(new Error('enough')), 100)
    await expect(leaving).rejects.toThrow('enough')
    await expectNothingKept()
  })
})

describe('a refusal', () => {
  it.each([
    [undefined, 401, /huggingface\.co\/someone\/model: accept its terms there, then set HF_TOKEN/],
    ['hf_of_somebody_else', 403, /with the account that the token belongs to/],
  ])('with the token %s says who grants access', async (given, status, advice) => {
    add()
    bench.server.gate('someone/model')
    const failed = bench.open({ token: given ?? false }).download(place)
    await expect(failed).rejects.toMatchObject({ name: 'PocketTtsError', code: 'access-denied' })
    await expect(failed).rejects.toThrow(advice)
    await expect(failed).rejects.toThrow(String(status))
    await expectNothingKept()
  })

  it('of an expired token says so', async () => {
    bench.server.refusal = { status: 401 }
    const failed = bench.open({ token: 'hf_expired' }).download(place)
    await expect(failed).rejects.toThrow(/the token is not accepted; renew it, or send none/)
  })

  it('names what is missing', async () => {
    const failed = bench.open().download('hf://someone/model/nothing.safetensors')
    await expect(failed).rejects.toMatchObject({ code: 'not-found' })
    await expect(failed).rejects.toThrow('the revision has no such file')
  })
})

describe('a redirect', () => {
  it('to another host does not take the token along', async () => {
    add()
    const other = await HubServer.start()
    try {
      bench.server.announce = { location: `${other.endpoint}/someone/model/resolve/main/stolen` }
      other.add('someone/model', 'stolen', bytes, false)
      const { size } = await bench.open({ token }).download(place)
      expect(size).toBe(bytes.length)
      expect(other.seen).toHaveLength(1)
      expect(other.seen[0]?.authorization).toBeUndefined()
    } finally {
      await other.stop()
    }
  })

  it.each([
    ['a file', 'file:///etc/passwd'],
    ['nonsense', 'http://'],
    ['script', 'javascript:alert(1)'],
  ])('to %s is not followed', async (_, location) => {
    add()
    bench.server.announce = { location }
    await expect(bench.open().download(place)).rejects.toThrow(/redirects to .* not followed/)
  })

  it('in a circle is left', async () => {
    add()
    bench.server.always = redirectTo(`${bench.server.cdn}/${sha256(bytes)}`)
    await expect(bench.open().download(place)).rejects.toThrow(/redirects more than 10 times/)
  })
})

describe('a server that is no hub', () => {
  it.each([
    ['no ETag', { 'x-linked-etag': undefined, etag: undefined }],
    ['an ETag that climbs', { 'x-linked-etag': '"../../../../escape"' }],
    ['an ETag with a separator', { 'x-linked-etag': '"a/b"' }],
    ['an empty ETag', { 'x-linked-etag': '""' }],
    ['a commit that climbs', { 'x-repo-commit': '../../escape' }],
    ['no commit for a branch', { 'x-repo-commit': undefined }],
    ['a size that is none', { 'x-linked-size': '-1' }],
    ['a size without end', { 'x-linked-size': '9'.repeat(400) }],
  ])('has %s', async (_, announce) => {
    add()
    bench.server.announce = announce
    await expect(bench.open().download(place)).rejects.toMatchObject({
      name: 'PocketTtsError',
      code: 'download-failed',
    })
    expect(readdirSync(bench.cacheDir)).toEqual([])
  })
})

describe('a cache that cannot be written', () => {
  it('is known before anything is fetched', async () => {
    add()
    bench.server.announce = { 'x-linked-size': String(Number.MAX_SAFE_INTEGER) }
    const failed = bench.open({}, { maxBytes: Number.MAX_SAFE_INTEGER }).download(place)
    await expect(failed).rejects.toMatchObject({ name: 'PocketTtsError', code: 'cache-failed' })
    await expect(failed).rejects.toThrow(/bytes free, and 9007199254740991 are needed/)
    expect(bench.server.bodies()).toEqual([])
  })

  it('is named', async () => {
    add()
    const cacheDir = join(bench.cacheDir, 'file', 'hub')
    writeFileSync(join(bench.cacheDir, 'file'), '')
    const failed = bench.open({ cacheDir }).download(place)
    await expect(failed).rejects.toMatchObject({ name: 'PocketTtsError', code: 'cache-failed' })
    await expect(failed).rejects.toThrow(cacheDir)
  })
})
