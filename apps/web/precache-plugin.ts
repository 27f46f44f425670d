import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Plugin } from 'vite'

const script = 'service-worker.js'

/** Tells the service worker which files there are: writes their paths and a digest of them in front of its script. */
export const precache = (): Plugin => {
  let folder = ''
  return {
    name: 'pocket-precache',
    apply: 'build',
    configResolved({ root, build }) {
      folder = join(root, build.outDir)
    },
    closeBundle() {
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== script && !entry.name.endsWith('.map'))
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .split(sep)
            .join('/'),
        )
        .sort()
      const code = readFileSync(join(folder, script), 'utf8')
      const hash = createHash('sha256').update(code)
      for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(folder, file)))
      const version = hash.digest('hex').slice(0, 16)
      writeFileSync(join(folder, script), `const precache=${JSON.stringify({ version, files })};\n${code}`)
    },
  }
}
