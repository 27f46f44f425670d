import { readFixture } from '@tooling/fixtures'
import { describe, expect, test } from 'vitest'
import { platform as browser } from '../../src/platform/browser.ts'
import { refusal } from '../support/errors.ts'
import { serveFiles } from '../support/file-server.ts'

const files = Object.fromEntries(
  ['model.safetensors', 'tokenizer.model'].map((name) => [
    `model/${name}`,
    readFixture(`tiny/tiny-2026-04/${name}`),
  ]),
)

describe('in browsers', () => {
  test('paths are relative to the page, and files are fetched', async () => {
    await using server = await serveFiles(files)
    const page = new URL(`${server.url}app/index.html`)
    const url = browser.toUrl('../model/tokenizer.model', page)
    expect(url.href).toBe(`${server.url}model/tokenizer.model`)
    expect(await browser.read(url)).toEqual(files['model/tokenizer.model'])
    expect(await browser.list(url)).toBeUndefined()
    await refusal(browser.read(url, { maxBytes: 100 }), 'invalid-model', 'larger than 100 bytes')
    const { reader, close } = await browser.openWeights(browser.toUrl('../model/model.safetensors', page))
    expect(reader.has('flow_lm.emb_std')).toBe(true)
    await close()
  })

  test('without a page a path leads nowhere', async () => {
    await refusal(() => browser.toUrl('model/'), 'not-found', "'model/'")
  })
})
