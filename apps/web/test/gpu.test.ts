import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PocketTts } from '@pocket/tts'
import { fixturePath, relativeL2 } from '@tooling/fixtures'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type {} from './engine-page/page.ts'
import { launchChromium, requireChromium } from './support/chromium.ts'
import { buildEnginePage } from './support/engine-page.ts'
import { openPage } from './support/open-page.ts'
import { type PageServer, servePage } from './support/page-server.ts'

const model = fixturePath('tiny/tiny-2026-04')
const voice = 'voices/voice-f32.safetensors'
const options = { seed: 5, eosThreshold: -1000, framesAfterEos: 4 }

const folder = mkdtempSync(join(tmpdir(), 'gpu-page-'))
let browser: Browser | undefined
let server: PageServer

beforeAll(async () => {
  // Chromium's own software adapter is offered to those who ask for it by this switch.
  browser = await launchChromium(['--enable-unsafe-webgpu'])
  if (!browser) return
  await buildEnginePage(folder)
  cpSync(model, join(folder, 'tiny'), { recursive: true })
  server = await servePage({ folder })
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  rmSync(folder, { recursive: true })
})
beforeEach(requireChromium)

it('a worker of a page speaks on the GPU as Node does on the CPU', async () => {
  const cpu = await PocketTts.load(model, { backend: 'cpu' })
  const expected = await cpu.speak('Yes.', { ...options, voice: join(model, voice) })
  cpu.dispose()

  const { page, complaints, context } = await openPage(browser!, { listens: false })
  await page.goto(server.url)
  await page.waitForFunction(() => 'pocket' in globalThis)
  const found = await page.evaluate(
    async ({ options, voice }) => {
      const engine = await pocket.loadInWorker('./tiny/', { backend: 'gpu' })
      const { pcm, chunks } = await engine.speak('Yes.', { ...options, voice: `./tiny/${voice}` })
      const { backend } = engine
      engine.dispose()
      return { pcm: [...pcm], chunks, backend }
    },
    { options, voice },
  )
  await context.close()

  expect(found.backend).toMatchObject({ name: 'gpu', adapter: expect.stringMatching(/\w/) })
  expect(found.chunks).toEqual(expected.chunks)
  // Whole passes in float32, by the fixtures' README.
  expect(relativeL2(found.pcm, expected.pcm)).toBeLessThan(5e-5)
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
}, 300_000)
