import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Manifest {
  dependencies?: string[]
  devDependencies?: string[]
  imports?: object
}

/** A tiny workspace: the manifest of each package by its folder, and the text of each file. */
export interface Tree {
  manifests: Record<string, Manifest>
  files: Record<string, string>
}

const exportsField = {
  '.': { '@pocket/source': './src/index.ts', default: './dist/index.js' },
  './node': { '@pocket/source': './src/node.ts', default: './dist/node.js' },
}
const nameOf = (folder: string) =>
  folder.replace(/^(packages|apps)\//, '@pocket/').replace(/^tooling\//, '@tooling/')
const anyVersion = (names: string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']))

/** Writes the tree into a temporary folder, with the links between packages that pnpm would make. */
export const plant = ({ manifests, files }: Tree): string => {
  const base = mkdtempSync(join(tmpdir(), 'layers-'))
  const write = (name: string, content: string) => {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), content)
  }
  for (const [folder, { dependencies = [], devDependencies = [], imports }] of Object.entries(manifests)) {
    const manifest = {
      name: nameOf(folder),
      type: 'module',
      exports: exportsField,
      imports,
      dependencies: anyVersion(dependencies),
      devDependencies: anyVersion(devDependencies),
    }
    write(`${folder}/package.json`, JSON.stringify(manifest))
    const siblings = Object.keys(manifests).filter((sibling) =>
      [...dependencies, ...devDependencies].includes(nameOf(sibling)),
    )
    for (const sibling of siblings) {
      const link = join(base, folder, 'node_modules', nameOf(sibling))
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(join(base, sibling), link, 'junction')
    }
  }
  for (const [name, content] of Object.entries(files)) write(name, content)
  return base
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface Report {
  summary: { violations: { rule: { name: string }; from: string; to: string }[] }
}

/** The violations that the repository's own configuration reports: `rule: from → to`, sorted. */
export const violations = (base: string): string[] => {
  const depcruise = here('../node_modules/dependency-cruiser/bin/dependency-cruiser.mjs')
  const config = here('../dependency-cruiser.config.mjs')
  const args = [depcruise, '--config', config, '--output-type', 'json', 'packages', 'apps', 'tooling']
  // The exit code is the number of violations.
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: base, encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  const { summary }: Report = JSON.parse(stdout)
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort()
}
