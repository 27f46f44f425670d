import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mini } from '@pocket/mini'
import { encodeWav, PocketTts } from '@pocket/tts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { launchChromium, requireChromium } from './support/chromium.ts'
import { type OpenPage, openPage, untilOffline, untilReady, untilStatus } from './support/open-page.ts'
import { builtPage, type PageServer, servePage } from './support/page-server.ts'

let browser: Browser | undefined
let server: PageServer
let open: OpenPage

beforeAll(async () => {
  server = await servePage()
  browser = await launchChromium()
  if (browser) open = await openPage(browser, { listens: false })
})
afterAll(async () => {
  await browser?.close()
  await server.close()
})
beforeEach(requireChromium)

it('fetches every file once on the first visit', async () => {
  await open.page.goto(server.url)
  await untilReady(open.page)
  await untilOffline(open.page)
  const weights = server.requests.filter((path) => path.endsWith('.safetensors'))
  expect(weights).toHaveLength(4)
  expect(new Set(weights).size).toBe(4)
})

it('takes the second visit from the cache', async () => {
  server.requests.length = 0
  await open.page.goto('about:blank')
  await open.page.goto(server.url)
  await untilReady(open.page)
  await untilOffline(open.page)
  // Browsers look for a newer service worker by themselves.
  expect(server.requests.filter((path) => path !== '/service-worker.js')).toEqual([])
})

it('speaks when the server is gone, in a voice that was never heard', async () => {
  const { page } = open
  const port = Number(new URL(server.url).port)
  await server.close()
  await expect(fetch(server.url)).rejects.toThrow()
  await page.goto(`${server.url}?simd=simd`)
  await page.reload()
  await untilReady(page)
  await page.selectOption('#voice', 'slt')
  await page.fill('#text', 'No network.')
  await page.click('#speak')
  await untilStatus(page, /^Finished/)
  const download = page.waitForEvent('download')
  await page.click('#download')
  const file = await readFile(await (await download).path())
  const tts = await PocketTts.load(mini, { simd: 'simd' })
  expect(file.equals(encodeWav(await tts.generate('No network.', { voice: 'slt', seed: 0 })))).toBe(true)
  tts.dispose()
  server = await servePage({ port })
})

it('changes to a newer version when no page of the older one is open, without fetching the model again', async () => {
  const { context, page } = open
  const folder = mkdtempSync(join(tmpdir(), 'pocket-page-'))
  try {
    cpSync(builtPage, folder, { recursive: true })
    edit(join(folder, 'index.html'), '<h1>Pocket</h1>', '<h1>Newer</h1>')
    edit(join(folder, 'service-worker.js'), '"version":"', '"version":"newer-')
    const port = Number(new URL(server.url).port)
    await server.close()
    server = await servePage({ folder, port })
    await page.goto(server.url)
    expect(await page.textContent('h1')).toBe('Pocket')
    await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready
      await registration.update()
      while (!registration.waiting) await new Promise((resolve) => setTimeout(resolve, 20))
    })
    await page.goto('about:blank')
    const next = await context.newPage()
    await expect
      .poll(
        async () => {
          await next.goto(server.url)
          const title = await next.textContent('h1')
          await next.goto('about:blank')
          return title
        },
        { timeout: 20_000 },
      )
      .toBe('Newer')
    await next.goto(server.url)
    await untilReady(next)
    expect(server.requests.filter((path) => path.endsWith('.safetensors'))).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const edit = (file: string, before: string, after: string): void => {
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(before)
  writeFileSync(file, text.replace(before, after))
}
