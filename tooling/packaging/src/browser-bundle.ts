import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** Globals that no browser has, and those that a strict content-security policy forbids. */
const forbidden = [
  'process',
  'Buffer',
  'require',
  'module',
  '__dirname',
  '__filename',
  'global',
  'Function',
  'eval',
]

/**
 * Bundler definitions that rename those globals, so that they can be found afterwards. A bundler knows a global from a
 * local variable or a property of the same name; a search in the text does not.
 */
export const marks: Readonly<Record<string, string>> = Object.fromEntries(
  forbidden.map((name) => [name, `FORBIDDEN_${name}`]),
)

/** The forbidden globals that code bundled with `marks` uses. */
export const forbiddenGlobals = (code: string): string[] => [
  ...new Set([...code.matchAll(/FORBIDDEN_(\w+)/g)].map(([, name]) => name!)),
]

/** A program and all that it imports as one minified module for browsers. Rejects where a node: module is imported. */
export const bundleForBrowser = async (
  contents: string,
  folder: string,
  define: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    logLevel: 'silent',
    define,
  })
  return outputFiles[0]!.text
}

/** What a bundled module exports, as found by running it. */
export const exportsOf = async (code: string, folder: string): Promise<Record<string, unknown>> => {
  const file = join(folder, `bundle-${crypto.randomUUID()}.mjs`)
  writeFileSync(file, code)
  return import(pathToFileURL(file).href)
}

const kibibytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`

/** A line of the table of sizes: minified, and as a server sends it. */
export const sizeRow = (name: string, code: string): string =>
  `| \`${name}\` | ${kibibytes(Buffer.byteLength(code))} | ${kibibytes(gzipSync(code).length)} |`
