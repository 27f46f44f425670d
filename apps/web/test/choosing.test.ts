import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { mini } from '@pocket/mini'
import { encodeWav, type LoadOptions, PocketTts } from '@pocket/tts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium, requireChromium } from './support/chromium.ts'
import { openPage, untilReady, untilStatus } from './support/open-page.ts'
import { builtPage, isolation, type PageServer, servePage } from './support/page-server.ts'

const text = 'Yes.'
const threads = Math.min(4, availableParallelism())

let browser: Browser | undefined
let server: PageServer

beforeAll(async () => {
  server = await servePage({ headers: isolation })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await server.close()
})
beforeEach(requireChromium)

/** A visit of this address, ended after the test. */
const visit = async (
  query: string,
  { at = server, by = browser }: { at?: PageServer; by?: Browser | undefined } = {},
) => {
  const { page, context, complaints } = await openPage(by!, { listens: false })
  await page.goto(at.url + query)
  await untilReady(page)
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() }
}

const choose = async (page: Page, selector: string, value: string) => {
  await page.locator('#engine').evaluate((details: HTMLDetailsElement) => {
    details.open = true
  })
  await page.selectOption(selector, value)
}

type Visit = Awaited<ReturnType<typeof visit>>

/** Waits until what was chosen is loaded, or is not. */
const untilSettled = async (page: Page) => {
  await page.locator('#loading').waitFor({ state: 'hidden' })
  await untilStatus(page, /^(Ready|Cancelled)/)
}

const alertOf = (page: Page) => page.locator('#error:not([hidden])').textContent()

const spoken = async (page: Page): Promise<Buffer> => {
  await page.fill('#text', text)
  await page.click('#speak')
  await untilStatus(page, /^Finished/)
  const download = page.waitForEvent('download')
  await page.click('#download')
  return readFile(await (await download).path())
}

const spokenInNode = async (options: LoadOptions): Promise<Buffer> => {
  const tts = await PocketTts.load(mini, { backend: 'cpu', simd: 'simd', ...options })
  const wav = encodeWav(await tts.generate(text, { seed: 0 }))
  tts.dispose()
  return Buffer.from(wav)
}

describe('choosing', () => {
  let visited: Visit
  let page: Page
  beforeAll(async () => {
    if (!browser) return
    visited = await visit('?simd=simd&prefill=1')
    page = visited.page
  })
  afterAll(() => visited?.[Symbol.asyncDispose]())

  const addressOf = () => new URL(page.url()).search

  it.each<[string, string, string, LoadOptions, string, RegExp]>([
    ['the language model', 'precision', 'int8', { precision: 'int8' }, '#precision', /model: 8 bits;/],
    [
      'the codec',
      'codec-precision',
      'int16',
      { precision: 'int8', codecPrecision: 'int16' },
      '#precision',
      /codec: 16-bit/,
    ],
    [
      'the language model again',
      'precision',
      'f32',
      { codecPrecision: 'int16' },
      '#precision',
      /model: 32 bits/,
    ],
    ['threads', 'threads', '1', { codecPrecision: 'int16' }, '#backend', /, 1\u00a0thread$/],
    ['the backend', 'backend', 'cpu', { codecPrecision: 'int16' }, '#gpu', /^not asked$/],
  ])(
    '%s changes what computes, the facts and the address',
    async (_name, parameter, value, options, fact, words) => {
      expect(await page.textContent(fact)).not.toMatch(words)
      await choose(page, `#choose-${parameter}`, value)
      await page.locator(fact, { hasText: words }).waitFor()
      await untilSettled(page)
      expect((await spoken(page)).equals(await spokenInNode(options))).toBe(true)
      expect(addressOf()).toContain(`${parameter}=${value}`)
    },
  )

  it('is remembered by the address', async () => {
    expect(addressOf()).toBe('?simd=simd&prefill=1&precision=f32&codec-precision=int16&threads=1&backend=cpu')
    await page.reload()
    await untilReady(page)
    expect(await page.textContent('#precision')).toBe('language model: 32 bits; codec: 16-bit integers')
    expect(await page.textContent('#backend')).toBe('WebAssembly, SIMD, 1\u00a0thread')
    expect(await page.inputValue('#choose-precision')).toBe('f32')
    expect(await page.inputValue('#choose-backend')).toBe('cpu')
  })

  it('the usual again takes it out of the address, and leaves text, voice and temperature alone', async () => {
    await page.selectOption('#voice', 'slt')
    await page.fill('#temperature', '0.7')
    await choose(page, '#choose-codec-precision', 'stored')
    await choose(page, '#choose-backend', 'auto')
    await choose(page, '#choose-threads', 'auto')
    await choose(page, '#choose-precision', 'stored')
    await page.locator('#precision', { hasText: 'language model: as stored; codec: as stored' }).waitFor()
    await untilSettled(page)
    expect(await page.textContent('#backend')).toBe(
      `WebAssembly, SIMD, ${threads}\u00a0thread${threads === 1 ? '' : 's'}`,
    )
    expect(addressOf()).toBe('?simd=simd&prefill=1')
    expect(await page.inputValue('#voice')).toBe('slt')
    expect(await page.inputValue('#temperature')).toBe('0.7')
  })

  it('lets what is being spoken come to its end, and the next speaks otherwise', async () => {
    await page.selectOption('#voice', 'rms')
    await page.fill('#temperature', '0.3')
    await page.fill('#text', 'One, two, three, four, five, six, seven, eight.')
    await page.click('#speak')
    await page.locator('#first-audio', { hasText: 'ms' }).waitFor()
    await choose(page, '#choose-precision', 'int8')
    await page.locator('#precision', { hasText: '8 bits' }).waitFor()
    await untilStatus(page, /^Finished/)
    expect(await page.locator('#error').isVisible()).toBe(false)
    expect((await spoken(page)).equals(await spokenInNode({ precision: 'int8' }))).toBe(true)
    expect(visited.complaints).toEqual([])
  })
})

describe('what cannot be had', () => {
  it('a GPU where there is none: said, with what to do, and everything is as before', async () => {
    await using visited = await visit('?simd=simd')
    const { page } = visited
    await choose(page, '#choose-backend', 'gpu')
    await page.getByRole('alert').filter({ hasText: 'No GPU can be used here' }).waitFor()
    expect(await alertOf(page)).toMatch(/Choose Automatic or CPU as backend\. Nothing has changed\.$/)
    await untilSettled(page)
    expect(await page.inputValue('#choose-backend')).toBe('auto')
    expect(new URL(page.url()).search).toBe('?simd=simd')
    expect((await spoken(page)).equals(await spokenInNode({}))).toBe(true)
    expect(await page.locator('#error').isVisible()).toBe(false)
  })

  it('two settings that do not go together', async () => {
    await using visited = await visit('?codec-precision=int16')
    const { page } = visited
    await choose(page, '#choose-backend', 'gpu')
    await page.getByRole('alert').filter({ hasText: 'These settings do not go together' }).waitFor()
    expect(await alertOf(page)).toContain('int16 is for a codec on the CPU')
    await untilSettled(page)
    expect(await page.inputValue('#choose-backend')).toBe('auto')
    expect(await page.textContent('#precision')).toContain('codec: 16-bit integers')
  })

  it.each([
    [
      '?backend=tpu&precision=int4&codec-precision=int8&simd=avx&threads=999',
      [
        'backend=tpu, which is none of auto, cpu, hybrid, gpu.',
        'precision=int4, which is none of stored, int8, bf16, f32.',
        'codec-precision=int8, which is none of stored, int16.',
        'simd=avx, which is none of auto, relaxed, simd, scalar.',
        'threads=999, which is neither auto nor 1 to ',
      ],
    ],
    ['?backend=gpu', ['No GPU can be used here', 'The usual settings are used in their place.']],
    ['?simd=scalar&threads=2', ['threads is 2', 'The usual settings are used in their place.']],
  ])('an address that ends in %s: said, and the page speaks all the same', async (query, words) => {
    await using visited = await visit(query)
    const { page } = visited
    const told = await alertOf(page)
    for (const part of words) expect(told).toContain(part)
    for (const name of ['backend', 'threads']) expect(await page.inputValue(`#choose-${name}`)).toBe('auto')
    expect(await page.textContent('#backend')).toMatch(/^WebAssembly, /)
  })
})

describe('threads', () => {
  it('may be as many as there are processors, where the page is isolated', async () => {
    await using visited = await visit('')
    const values = await visited.page.locator('#choose-threads option').allTextContents()
    const counts = Array.from({ length: availableParallelism() }, (_, index) => String(index + 1))
    expect(values).toEqual(['Automatic', ...counts])
    expect(await visited.page.locator('#choose-threads').isEnabled()).toBe(true)
  })

  it('are one where it is not, and the page says why', async () => {
    const plain = await servePage()
    try {
      await using visited = await visit('?threads=2', { at: plain })
      const { page } = visited
      expect(await alertOf(page)).toMatch(/^The address says threads=2, but: This page is not isolated/)
      expect(await page.locator('#choose-threads').isDisabled()).toBe(true)
      await choose(page, '#choose-precision', 'int8')
      await page.locator('#precision', { hasText: '8 bits' }).waitFor()
      expect(await page.textContent('#backend')).toMatch(/, 1\u00a0thread$/)
      expect(await page.textContent('#threads-hint')).toContain('Cross-Origin-Opener-Policy: same-origin')
    } finally {
      await plain.close()
    }
  })
})

describe('with a GPU, which Chromium plays in software', () => {
  let other: Browser | undefined
  beforeAll(async () => {
    other = await launchChromium(['--enable-unsafe-webgpu'])
  })
  afterAll(() => other?.close())

  it('loading can be cancelled; then the other choice speaks through it', { timeout: 240_000 }, async () => {
    await using visited = await visit('?simd=simd', { by: other })
    const { page, complaints } = visited
    expect(await page.textContent('#gpu')).toMatch(/swiftshader.*, not used: it computes on the CPU/i)
    await choose(page, '#choose-backend', 'gpu')
    await untilStatus(page, /^Loading the model again\.$/)
    expect(await page.getByRole('progressbar', { name: 'Loading the model' }).isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Cancel' }).focus()
    await page.keyboard.press('Enter')
    await untilStatus(page, /^Cancelled\. Nothing has changed\.$/)
    expect(await page.locator('#loading').isVisible()).toBe(false)
    expect(await page.inputValue('#choose-backend')).toBe('auto')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('choose-backend')
    expect(new URL(page.url()).search).toBe('?simd=simd')

    // Of two choices the later is loaded, and nothing is said of the earlier.
    await choose(page, '#choose-backend', 'gpu')
    await choose(page, '#choose-backend', 'hybrid')
    await page
      .locator('#backend', { hasText: /SIMD.*; the codec on WebGPU \(.+\)/ })
      .waitFor({ timeout: 180_000 })
    await untilSettled(page)
    expect(await page.locator('#error').isVisible()).toBe(false)
    expect(await page.textContent('#gpu')).toMatch(/cpu [\d.]+ ms, hybrid [\d.]+ ms/)
    expect((await spoken(page)).byteLength).toBe((await spokenInNode({})).byteLength)
    expect(complaints).toEqual([])
  })

  it('one that computes wrongly is refused, in words, and the CPU speaks', async () => {
    const name = readdirSync(join(builtPage, 'assets')).find((file) => /^browser-entry-.*\.js$/.test(file))
    const script = readFileSync(join(builtPage, 'assets', name!), 'utf8')
    // What a miscompiling driver does: weights of an attention that are not what they should be.
    const broken = script.replaceAll('exp(scores[i] - most)', 'exp(most - scores[i])')
    expect(broken).not.toBe(script)
    const faulty = await servePage({ headers: isolation, extra: { [`/assets/${name}`]: broken } })
    try {
      await using visited = await visit('?backend=gpu&simd=simd', { at: faulty, by: other })
      const { page } = visited
      expect(await alertOf(page)).toMatch(/^The GPU is not used: .*computes wrong.*Choose Automatic or CPU/)
      expect(await page.textContent('#backend')).toMatch(/^WebAssembly, /)
      expect(await page.inputValue('#choose-backend')).toBe('auto')
      expect((await spoken(page)).byteLength).toBe((await spokenInNode({})).byteLength)
    } finally {
      await faulty.close()
    }
  })
})

describe('without a mouse, or much room', () => {
  it('every selector has a name and says what its value means', async () => {
    await using visited = await visit('')
    const { page } = visited
    await page.locator('summary').focus()
    await page.keyboard.press('Enter')
    for (const [name, meaning] of [
      ['Backend', /GPU that is right and faster/],
      ['Language model', /as the file has it/],
      ['Codec', /by the weights/],
      ['Threads', /at most 4/],
    ] as const) {
      await page.keyboard.press('Tab')
      const selector = page.getByRole('combobox', { name, exact: true, description: meaning })
      expect(await selector.count(), name).toBe(1)
      expect(await selector.evaluate((element) => element === document.activeElement)).toBe(true)
    }
  })

  it('fits a phone, open', async () => {
    const phone = await openPage(browser!, {
      viewport: { width: 320, height: 640 },
      isMobile: true,
      listens: false,
    })
    const { page, context } = phone
    await page.goto(`${server.url}?backend=gpu`)
    await untilReady(page)
    await page.click('summary')
    expect(await page.locator('#choose-threads').isVisible()).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
    await context.close()
  })
})
