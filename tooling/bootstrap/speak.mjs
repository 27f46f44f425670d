// npm run speak -- "Hello." : installs and builds what is missing, then speaks into speech.wav.
import { join } from 'node:path'
import process from 'node:process'
import { buildToRun, install } from './src/prepare.mjs'
import { runAttached, StepFailed } from './src/processes.mjs'
import { root, workspaceNode } from './src/workspace.mjs'

try {
  await install()
  await buildToRun('@pocket/cli')
  const pocket = join(root, 'apps/cli/dist/launch.cjs')
  // npm runs scripts in the root folder and says in INIT_CWD where it was called.
  const folder = process.env.INIT_CWD ?? process.cwd()
  const args = ['generate', '--output-path', 'speech.wav', ...process.argv.slice(2)]
  process.exitCode = await runAttached(workspaceNode(), [pocket, ...args], folder)
} catch (error) {
  if (!(error instanceof StepFailed)) throw error
  process.exitCode = 1
}
