import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** A folder of its own for every test. */
export const useFolder = () => {
  let path = ''
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'pocket-cli-'))
  })
  afterEach(() => rmSync(path, { recursive: true }))
  return {
    get path() {
      return path
    },
    files: () => readdirSync(path).sort(),
    read: (name: string) => new Uint8Array(readFileSync(join(path, name))),
  }
}
