import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { installTap } from './tap.ts'

export interface OpenPage {
  readonly page: Page
  readonly context: BrowserContext
  /** What the browser complained about: errors, and violations of the content-security policy. */
  readonly complaints: string[]
}

declare global {
  var complain: (text: string) => void
}

export interface VisitorOptions extends BrowserContextOptions {
  /** Whether to listen to the sound, which takes a server that has the tap. Default true. */
  readonly listens?: boolean
}

/** Opens a page as a new visitor would, noting the browser's complaints. */
export const openPage = async (browser: Browser, visitor: VisitorOptions = {}): Promise<OpenPage> => {
  const { listens = true, ...options } = visitor
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  await page.exposeFunction('complain', (text: string) => complaints.push(text))
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      globalThis.complain(`${violatedDirective} forbids ${blockedURI}`),
    )
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  if (listens) await installTap(page)
  return { page, context, complaints }
}

export const untilReady = (page: Page): Promise<void> => untilStatus(page, /^Ready\.$/)

export const untilStatus = (page: Page, status: RegExp): Promise<void> => untilText(page, '#status', status)

export const untilOffline = (page: Page): Promise<void> => untilText(page, '#offline', /^yes$/)

const untilText = (page: Page, selector: string, text: RegExp): Promise<void> =>
  page.locator(selector, { hasText: text }).waitFor()
