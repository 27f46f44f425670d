import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { rows } from './rows.mjs'

const anyOf = (/** @type {readonly string[]} */ names) => `(${names.join('|')})`

/**
 * One rule a row: its packages reach only themselves and the rows below.
 * @type {import('dependency-cruiser').IForbiddenRuleType[]}
 */
const rowRules = rows.map((row, index) => {
  const below = rows.slice(0, index).flat()
  return {
    name: `row-of-${row.join('-')}`,
    comment: `${row.join(', ')} may import ${below.length > 0 ? `only ${below.join(', ')}` : 'no sibling'}.`,
    severity: 'error',
    // Examples are programs as a user would write them, on top of everything.
    from: { path: `^packages/${anyOf(row)}/`, pathNot: '^packages/[^/]+/examples/' },
    to: { path: '^packages/', pathNot: `^packages/${anyOf(['$1', ...below])}/` },
  }
})

/**
 * One rule a package: its sources import only the siblings that its manifest promises to its users.
 * @type {import('dependency-cruiser').IForbiddenRuleType[]}
 */
const manifestRules = ['packages', 'apps']
  .flatMap((group) => (existsSync(group) ? readdirSync(group).map((name) => `${group}/${name}`) : []))
  .filter((folder) => existsSync(`${folder}/package.json`))
  .map((folder) => {
    const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
    const siblings = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
      .filter((name) => name.startsWith('@pocket/'))
      .map((name) => name.replace('@pocket/', 'packages/'))
    return {
      name: `declared-by-${folder.replace('/', '-')}`,
      comment: `${folder}/package.json lists under "dependencies" only ${siblings.join(', ') || 'no sibling'}.`,
      severity: 'error',
      from: { path: `^${folder}/src/` },
      to: { path: '^packages/', pathNot: `^${anyOf([folder, ...siblings])}/` },
    }
  })

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...rowRules,
    ...manifestRules,
    {
      name: 'every-package-has-a-row',
      comment: 'A package that rows.mjs does not name escapes the rules above: give it a row.',
      severity: 'error',
      from: { path: '^packages/', pathNot: `^packages/${anyOf(rows.flat())}/` },
      to: {},
    },
    {
      name: 'packages-do-not-know-apps',
      comment: 'Apps are made of packages, not the other way round.',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-stand-alone',
      comment: 'What two apps share belongs into a package. Only `pocket serve` starts another app.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/cli/src/commands/serve\\.ts$' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'nothing-ships-tooling',
      comment: 'Sources are published, tooling is not. Tests, benches and configurations may use it.',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/' },
      to: { path: '^tooling/' },
    },
    {
      name: 'through-the-front-door',
      comment:
        'Another package is imported by its name, through its exports; never by a path into its folder.',
      severity: 'error',
      from: { path: '^([^/]+)/([^/]+)/' },
      to: { path: '^(packages|apps|tooling)/', pathNot: '^$1/$2/', dependencyTypes: ['local'] },
    },
    {
      name: 'resolvable',
      comment: 'No such module, or its package does not export it.',
      severity: 'error',
      from: { pathNot: '^packages/[^/]+/examples/' },
      // Declarations of globals, and no module.
      to: { couldNotResolve: true, pathNot: '^@webgpu/types$' },
    },
    {
      name: 'declared',
      comment: 'Sources import only what their manifest lists for users, not for development.',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-cycles',
      comment: 'Two modules that need each other are one module, or three.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'main-graphs-run-in-browsers',
      comment:
        'What the main entry of a package reaches runs in browsers. node: modules live behind a ./node export.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/index\\.ts$' },
      to: { path: `^(node:)?${anyOf(builtinModules)}$`, reachable: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Not TypeScript: what is built, data, and AssemblyScript, which has a compiler of its own.
    exclude: { path: '(^|/)(dist|build|coverage|data|model|assembly)/' },
    tsPreCompilationDeps: true,
    // Siblings resolve to their sources; conditional imports (`#platform`) to what a browser gets.
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@pocket/source', 'browser', 'import', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
}
