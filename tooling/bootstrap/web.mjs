// npm run web : installs and builds what is missing, then serves the page. Options go to vite preview: -- --port 8080
import { join } from 'node:path'
import process from 'node:process'
import { buildToRun, install } from './src/prepare.mjs'
import { runAttached, StepFailed } from './src/processes.mjs'
import { root, workspaceNode } from './src/workspace.mjs'

try {
  await install()
  await buildToRun('@pocket/web')
  const folder = join(root, 'apps/web')
  const vite = join(folder, 'node_modules/vite/bin/vite.js')
  process.exitCode = await runAttached(workspaceNode(), [vite, 'preview', ...process.argv.slice(2)], folder)
} catch (error) {
  if (!(error instanceof StepFailed)) throw error
  process.exitCode = 1
}
