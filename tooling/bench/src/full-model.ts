import { rmSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fixturePath, fullWeights, writeTensorFile } from '@tooling/fixtures'

/** Files of a model of full size. */
export interface FullModel {
  readonly model: string
  readonly tokenizer: string
}

/**
 * Generated weights of the real geometry, 240 MB of BF16, in a temporary file that goes when this process does. What
 * they say is noise, at full speed.
 */
export const writeFullModel = async (): Promise<FullModel> => {
  const folder = await mkdtemp(join(tmpdir(), 'pocket-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const model = join(folder, 'model.safetensors')
  await writeFile(model, writeTensorFile(fullWeights()))
  return { model, tokenizer: fixturePath('tokenizer/sp4000.model') }
}
