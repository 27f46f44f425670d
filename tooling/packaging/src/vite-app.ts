import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build, createLogger } from 'vite'
import { marks } from './browser-bundle.ts'
import { runNode } from './processes.ts'
import { filesBelow } from './projects.ts'

export interface ViteApp {
  readonly files: readonly string[]
  /** All scripts, one after the other. */
  readonly code: string
  /** What the bundler warned of. */
  readonly warnings: readonly string[]
  /** What the page's program printed. */
  readonly output: string
}

/** Serves a folder on this machine while `work` lasts. */
const serving = async <T>(folder: string, work: (address: string) => Promise<T>): Promise<T> => {
  const server = createServer((request, response) => {
    const file = join(folder, new URL(request.url ?? '/', 'http://localhost').pathname)
    if (existsSync(file)) response.end(readFileSync(file))
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Builds the page of a project with Vite, serves it, and runs its script, which fetches what it needs, in Node. */
export const buildAndRunPage = (project: string): Promise<ViteApp> => {
  const outDir = join(project, 'page')
  return serving(outDir, async (base) => {
    const warnings: string[] = []
    const logger = createLogger('silent')
    const warn = (message: string): void => void warnings.push(message)
    await build({
      root: project,
      base,
      configFile: false,
      logLevel: 'silent',
      customLogger: { ...logger, warn, warnOnce: warn, error: warn },
      define: marks,
      build: {
        outDir,
        target: 'es2023',
        modulePreload: false,
        reportCompressedSize: false,
        // It warns where a busy machine makes a plugin slow.
        rolldownOptions: { checks: { bundlerTimings: false } },
      },
    })
    const files = filesBelow(outDir)
    const scripts = files.filter((file) => file.endsWith('.js'))
    const [, entry] = /<script [^>]*src="[^"]*\/(assets\/[^"]+)"/.exec(
      readFileSync(join(outDir, 'index.html'), 'utf8'),
    )!
    return {
      files,
      code: scripts.map((file) => readFileSync(join(outDir, file), 'utf8')).join('\n'),
      warnings,
      output: await runNode([join('page', entry!)], project),
    }
  })
}
