import type { Tree } from './tree.ts'

/** A small workspace that keeps every rule. */
export const sound: Tree = {
  manifests: {
    'packages/safetensors': {},
    'packages/nn': {
      dependencies: ['@pocket/safetensors'],
      devDependencies: ['@tooling/fixtures'],
      imports: { '#platform': { node: './src/platform-node.ts', default: './src/platform.ts' } },
    },
    'packages/mimi': { dependencies: ['@pocket/nn'] },
    'packages/flowlm': { dependencies: ['@pocket/nn'], devDependencies: ['@pocket/safetensors'] },
    'packages/tts': { dependencies: ['@pocket/mimi', '@pocket/flowlm'] },
    'apps/cli': { dependencies: ['@pocket/tts'] },
    'apps/web': { dependencies: ['@pocket/tts'] },
    'tooling/fixtures': {},
  },
  files: {
    'packages/safetensors/src/index.ts': 'export const tensors = 1',
    'packages/safetensors/src/node.ts': "export * from 'node:fs'\nexport * from './index.ts'",
    'packages/nn/src/index.ts': "export * from '@pocket/safetensors'\nexport * from '#platform'",
    'packages/nn/src/platform.ts': 'export const platform = 1',
    'packages/nn/src/platform-node.ts': "export { platform as name } from 'node:os'",
    'packages/nn/test/nn.test.ts': "import '@tooling/fixtures'\nimport 'node:fs'\nimport '../src/index.ts'",
    'packages/mimi/src/index.ts': "export * from '@pocket/nn'",
    'packages/mimi/examples/speak.ts': "import '@pocket/tts'",
    'packages/flowlm/src/index.ts': "export * from '@pocket/nn'",
    'packages/flowlm/test/flowlm.test.ts': "import '@pocket/safetensors/node'",
    'packages/tts/src/index.ts':
      "export * from '@pocket/mimi'\nexport const load = () => import('@pocket/flowlm')",
    'apps/cli/src/index.ts': "import '@pocket/tts'\nimport 'node:fs'",
    'apps/web/src/index.ts': "import '@pocket/tts'",
    'tooling/fixtures/src/index.ts': "import 'node:fs'",
  },
}

interface Violation {
  title: string
  files: Tree['files']
  /** What is reported, as `rule: from → to`. */
  reported: string[]
}

/** Files that each break one rule when they join the workspace below. */
export const broken: Violation[] = [
  {
    title: 'an import from a row above',
    files: { 'packages/nn/src/up.ts': "import '@pocket/mimi'" },
    reported: ['row-of-nn: packages/nn/src/up.ts → packages/mimi/src/index.ts'],
  },
  {
    title: 'an import from the own row',
    files: { 'packages/mimi/src/side.ts': "import '@pocket/flowlm'" },
    reported: ['row-of-flowlm-mimi: packages/mimi/src/side.ts → packages/flowlm/src/index.ts'],
  },
  {
    title: 'an import for its types alone from the own row, in a test',
    files: {
      'packages/mimi/test/side.test.ts': "import type { X } from '@pocket/flowlm'\nexport type Y = X",
    },
    reported: ['row-of-flowlm-mimi: packages/mimi/test/side.test.ts → packages/flowlm/src/index.ts'],
  },
  {
    title: 'a package without a row',
    files: { 'packages/new/src/index.ts': "import './other.ts'", 'packages/new/src/other.ts': '' },
    reported: ['every-package-has-a-row: packages/new/src/index.ts → packages/new/src/other.ts'],
  },
  {
    title: 'a sibling that the manifest lists only for development',
    files: { 'packages/flowlm/src/more.ts': "import '@pocket/safetensors'" },
    reported: [
      'declared-by-packages-flowlm: packages/flowlm/src/more.ts → packages/safetensors/src/index.ts',
    ],
  },
  {
    title: 'a package that knows an app',
    files: { 'packages/tts/src/app.ts': "import '@pocket/web'" },
    reported: ['packages-do-not-know-apps: packages/tts/src/app.ts → apps/web/src/index.ts'],
  },
  {
    title: 'an app that knows another',
    files: { 'apps/cli/src/web.ts': "import '@pocket/web'" },
    reported: ['apps-stand-alone: apps/cli/src/web.ts → apps/web/src/index.ts'],
  },
  {
    title: 'tooling in what is published',
    files: { 'packages/nn/src/data.ts': "import '@tooling/fixtures'" },
    reported: ['nothing-ships-tooling: packages/nn/src/data.ts → tooling/fixtures/src/index.ts'],
  },
  {
    title: "a path into another package's folder",
    files: { 'packages/nn/test/inside.test.ts': "import '../../safetensors/src/index.ts'" },
    reported: ['through-the-front-door: packages/nn/test/inside.test.ts → packages/safetensors/src/index.ts'],
  },
  {
    title: 'a file that the package does not export',
    files: { 'packages/nn/test/deep.test.ts': "import '@pocket/safetensors/src/index.ts'" },
    reported: ['resolvable: packages/nn/test/deep.test.ts → @pocket/safetensors/src/index.ts'],
  },
  {
    title: 'a module that does not exist',
    files: { 'packages/nn/src/gone.ts': "import './nowhere.ts'" },
    reported: ['resolvable: packages/nn/src/gone.ts → ./nowhere.ts'],
  },
  {
    title: 'an npm package that users would not get',
    files: {
      'packages/safetensors/src/color.ts': "import 'chalk'",
      'packages/safetensors/node_modules/chalk/package.json': '{ "name": "chalk", "main": "index.js" }',
      'packages/safetensors/node_modules/chalk/index.js': '',
    },
    reported: [
      'declared: packages/safetensors/src/color.ts → packages/safetensors/node_modules/chalk/index.js',
    ],
  },
  {
    title: 'a cycle',
    files: {
      'packages/nn/src/a.ts': "export * from './b.ts'",
      'packages/nn/src/b.ts': "export * from './a.ts'",
    },
    reported: ['no-cycles: packages/nn/src/a.ts → packages/nn/src/b.ts'],
  },
  {
    title: 'a node: module that main entries reach through other modules and packages',
    files: {
      'packages/mimi/src/index.ts': "export * from './read.ts'",
      'packages/mimi/src/read.ts': "import 'node:fs'",
    },
    reported: ['mimi', 'tts'].map(
      (name) => `main-graphs-run-in-browsers: packages/${name}/src/index.ts → fs`,
    ),
  },
  {
    title: 'a node: module in the branch of a conditional import that browsers get',
    files: { 'packages/nn/src/platform.ts': "import 'node:worker_threads'" },
    reported: ['flowlm', 'nn', 'tts'].map(
      (name) => `main-graphs-run-in-browsers: packages/${name}/src/index.ts → worker_threads`,
    ),
  },
]

/** The sound workspace with all of that in it, and with manifests that let every import resolve. */
export const unsound: Tree = {
  manifests: {
    ...sound.manifests,
    'packages/new': {},
    'packages/safetensors': { devDependencies: ['chalk'] },
    'packages/nn': {
      ...sound.manifests['packages/nn'],
      dependencies: ['@pocket/safetensors', '@pocket/mimi'],
    },
    'packages/mimi': { dependencies: ['@pocket/nn', '@pocket/flowlm'] },
    'packages/tts': { dependencies: ['@pocket/mimi', '@pocket/flowlm', '@pocket/web'] },
    'apps/cli': { dependencies: ['@pocket/tts', '@pocket/web'] },
  },
  files: Object.assign({}, sound.files, ...broken.map(({ files }) => files)),
}
