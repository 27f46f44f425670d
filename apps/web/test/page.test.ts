import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { mini } from '@pocket/mini'
import { encodeWav, PocketTts } from '@pocket/tts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium, requireChromium } from './support/chromium.ts'
import { type OpenPage, openPage, untilReady, untilStatus } from './support/open-page.ts'
import { isolation, type PageServer, servePage } from './support/page-server.ts'
import { takeTapped, tapPath, tapScript, trimSilence } from './support/tap.ts'

let browser: Browser | undefined
let expected: Float32Array

const text = 'Hello from my pocket. It speaks.'

/** As many as share the work by default, where threads may share memory. */
const usualThreads = Math.min(4, availableParallelism())

beforeAll(async () => {
  browser = await launchChromium()
  const tts = await PocketTts.load(mini, { simd: 'simd' })
  expected = await tts.generate(text, { voice: 'awb', seed: 7, temperature: 0.5 })
  tts.dispose()
})
afterAll(() => browser?.close())
beforeEach(requireChromium)

describe.each([
  { name: 'isolated from other origins', headers: isolation, isolated: 'yes', threads: usualThreads },
  { name: 'not isolated', headers: {}, isolated: 'no, and no need to be', threads: 1 },
])('a page that is $name', ({ headers, isolated, threads }) => {
  let server: PageServer
  let open: OpenPage

  beforeAll(async () => {
    server = await servePage({ headers, extra: { [tapPath]: tapScript } })
    if (!browser) return
    open = await openPage(browser)
    // All of it is made before any is heard, so that a busy machine makes no pauses.
    await open.page.goto(`${server.url}?simd=simd&prefill=4`)
    await untilReady(open.page)
  })
  afterAll(async () => {
    await open?.context.close()
    await server.close()
  })

  const speak = async () => {
    const { page } = open
    await page.fill('#text', text)
    await page.selectOption('#voice', 'awb')
    await page.fill('#seed', '7')
    await page.fill('#temperature', '0.5')
    await page.click('#speak')
    await untilStatus(page, /^Finished/)
  }

  it('plays what the library makes in Node, sample for sample', async () => {
    await speak()
    const heard = await takeTapped(open.page)
    expect(await open.page.textContent('#underruns')).toBe('0')
    const wanted = trimSilence(expected)
    expect(heard.length).toBe(wanted.length)
    expect(Buffer.from(heard.buffer, heard.byteOffset, heard.byteLength)).toEqual(
      Buffer.from(wanted.buffer, wanted.byteOffset, wanted.byteLength),
    )
  })

  it('offers the same speech as a WAV file', async () => {
    const download = open.page.waitForEvent('download')
    await open.page.click('#download')
    expect((await download).suggestedFilename()).toBe('speech.wav')
    const file = await readFile(await (await download).path())
    expect(file.equals(encodeWav(expected))).toBe(true)
  })

  it('says what computes, and how fast', async () => {
    const { page } = open
    expect(await page.textContent('#backend')).toBe(
      `WebAssembly, SIMD, ${threads}\u00a0thread${threads === 1 ? '' : 's'}`,
    )
    expect(await page.textContent('#isolated')).toBe(isolated)
    expect(await page.textContent('#frame-time')).toMatch(/^[\d.]+ ms$/)
    expect(await page.textContent('#real-time-factor')).toMatch(/^\d+\.\d\d \([\d.]+ × real time\)$/)
    expect(await page.textContent('#first-audio')).toMatch(/^[\d.]+ ms$/)
    expect(await page.getAttribute('#waveform', 'aria-label')).toMatch(
      /^Waveform of \d\.\d seconds of speech$/,
    )
  })

  it('stays within its content-security policy', () => {
    expect(open.complaints).toEqual([])
  })
})
