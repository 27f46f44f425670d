import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type {} from './engine-page/page.ts'
import { launchChromium, requireChromium } from './support/chromium.ts'
import { buildEnginePage } from './support/engine-page.ts'
import { type OpenPage, openPage } from './support/open-page.ts'
import { isolation, type PageServer, servePage } from './support/page-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'engine-page-'))
let browser: Browser | undefined
let expected: number[]

beforeAll(async () => {
  browser = await launchChromium()
  if (!browser) return
  await buildEnginePage(folder)
  const tts = await PocketTts.load(mini, { simd: 'simd' })
  expected = [...(await tts.generate('One, two.', { seed: 5 }))]
  tts.dispose()
})
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true })
})
beforeEach(requireChromium)

describe.each([
  { name: 'isolated', headers: isolation },
  { name: 'not isolated', headers: {} },
])('the worker engine in a page that is $name', ({ name, headers }) => {
  let server: PageServer
  let open: OpenPage
  let page: Page

  beforeAll(async () => {
    server = await servePage({ folder, headers })
    if (!browser) return
    open = await openPage(browser, { listens: false })
    page = open.page
    await page.goto(server.url)
    await page.waitForFunction(() => 'pocket' in globalThis)
  })
  afterAll(async () => {
    await open?.context.close()
    await server.close()
  })

  it('makes the samples that Node makes, whole and in frames', async () => {
    const { whole, frames, lasts } = await page.evaluate(async () => {
      const engine = await pocket.loadInWorker(pocket.mini, { simd: 'simd' })
      const whole = [...(await engine.generate('One, two.', { seed: 5 }))]
      const frames: number[] = []
      let lasts = 0
      for await (const { pcm, isLast } of engine.stream('One, two.', { seed: 5 })) {
        frames.push(...pcm)
        if (isLast) lasts++
      }
      engine.dispose()
      return { whole, frames, lasts }
    })
    expect(whole).toEqual(expected)
    expect(frames).toEqual(expected)
    expect(lasts).toBe(1)
  })

  it('rejects with the errors of the library', async () => {
    const codes = await page.evaluate(async () => {
      const engine = await pocket.loadInWorker(pocket.mini)
      const code = (work: Promise<unknown>) =>
        work.then(
          () => 'none',
          (error: unknown) => (error instanceof pocket.PocketTtsError ? error.code : String(error)),
        )
      const found = [
        await code(engine.generate(' ')),
        await code(engine.generate('Yes.', { voice: 'nobody' })),
        await code(engine.generate('Yes.', { temperature: -1 })),
        await code(pocket.loadInWorker('./nowhere/')),
      ]
      const pending = engine.generate('Never heard.')
      engine.dispose()
      return [...found, await code(pending)]
    })
    expect(codes).toEqual(['empty-text', 'unknown-voice', 'invalid-option', 'not-found', 'disposed'])
  })

  it('stops within a frame, and goes on to speak', async () => {
    const { reason, samples } = await page.evaluate(async () => {
      const engine = await pocket.loadInWorker(pocket.mini)
      const controller = new AbortController()
      let reason: unknown
      try {
        for await (const _ of engine.stream('A long story. '.repeat(20), { signal: controller.signal })) {
          controller.abort('enough')
        }
      } catch (error) {
        reason = error
      }
      const { length: samples } = await engine.generate('Yes.')
      engine.dispose()
      return { reason, samples }
    })
    expect(reason).toBe('enough')
    expect(samples).toBeGreaterThan(0)
  })

  it(`takes noise of the caller's ${name === 'isolated' ? 'through shared memory' : 'only where memory can be shared'}`, async () => {
    const outcome = await page.evaluate(async () => {
      const engine = await pocket.loadInWorker(pocket.mini, { simd: 'simd' })
      try {
        let draws = 0
        const noise = {
          next(length: number) {
            draws++
            return new Float32Array(length).fill(0.1)
          },
        }
        await engine.generate('Yes.', { noise })
        return draws > 0 ? 'drawn' : 'not drawn'
      } catch (error) {
        return error instanceof pocket.PocketTtsError ? error.code : String(error)
      } finally {
        engine.dispose()
      }
    })
    expect(outcome).toBe(name === 'isolated' ? 'drawn' : 'unsupported')
  })

  it('needs no more than the strict content-security policy of that page', () => {
    // The folder that is not there is one that the browser mentions too.
    expect(open.complaints.filter((text) => !text.includes('404'))).toEqual([])
  })
})
