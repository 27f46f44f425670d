import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import type { TestContext } from 'vitest'

const executablePath = '/usr/bin/chromium'

/** Call it first in a test that needs a browser: where there is none it is skipped, and CI takes no skip. */
export const requireChromium = ({ skip }: Pick<TestContext, 'skip'>): void => {
  if (!existsSync(executablePath)) skip(`there is no ${executablePath}: apt-get install chromium`)
}

/** @param switches beyond the usual ones */
export const launchChromium = async (switches: readonly string[] = []): Promise<Browser | undefined> =>
  existsSync(executablePath)
    ? chromium.launch({
        executablePath,
        args: [
          '--headless=new',
          '--no-sandbox',
          '--disable-gpu',
          '--disable-quic',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
          ...switches,
        ],
      })
    : undefined
