import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HubServer } from '@tooling/fixtures/hub'
import { afterEach, beforeEach } from 'vitest'
import type { HubTuning } from '../../../src/hub/hub.ts'
import { readSettings } from '../../../src/hub/node/environment.ts'
import { NodeHub } from '../../../src/hub/node/node-hub.ts'
import type { RetryPolicy } from '../../../src/hub/retry.ts'
import type { HubOptions } from '../../../src/hub/settings.ts'

/** What a test of downloads stands on: a hub, an empty cache, and no waiting between attempts. */
export interface HubBench {
  server: HubServer
  cacheDir: string
  /** How long each pause between attempts would have been, in milliseconds. */
  waits: number[]
  retries: RetryPolicy
  open(options?: HubOptions, tuning?: HubTuning): NodeHub
}

/** A fresh one for every test of the file; gone after it. */
export const useHubBench = (): HubBench => {
  const bench = {} as HubBench
  beforeEach(async () => {
    const waits: number[] = []
    const retries: RetryPolicy = {
      attempts: 5,
      wait: async (ms, signal) => {
        waits.push(ms)
        signal.throwIfAborted()
      },
    }
    const server = await HubServer.start()
    const cacheDir = mkdtempSync(join(tmpdir(), 'pocket-hub-'))
    const open = (options: HubOptions = {}, tuning: HubTuning = {}): NodeHub => {
      // No variable of whoever runs the tests.
      const settings = readSettings({ endpoint: server.endpoint, token: false, cacheDir, ...options }, {})
      return new NodeHub(settings, { retries, stallMs: 2000, ...tuning })
    }
    Object.assign(bench, { server, cacheDir, waits, retries, open })
  })
  afterEach(async () => {
    await bench.server.stop()
    rmSync(bench.cacheDir, { recursive: true, force: true })
  })
  return bench
}
