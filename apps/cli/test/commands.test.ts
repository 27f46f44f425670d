import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { pocket } from './pocket.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

it('lists voices, one a line', async () => {
  const { code, stdout } = await pocket(['voices'], here)
  expect({ code, stdout: String(stdout) }).toEqual({ code: 0, stdout: 'awb\nrms\nslt\n' })
})

it('prints its version', async () => {
  expect(String((await pocket(['--version'], here)).stdout)).toBe(`${manifest.version}\n`)
})

it.each([
  [['--help'], ['Usage: pocket', 'generate', 'voices', 'export-voice', 'encode', 'decode']],
  [
    ['generate', '--help'],
    ['Usage: pocket generate', '--temperature', 'Examples:', '-o - | aplay'],
  ],
  [
    ['encode', '--help'],
    ['Usage: pocket encode', '24 kHz', 'float32 [frames, 32]', 'pocket decode - -o -'],
  ],
  [
    ['decode', '--help'],
    ['Usage: pocket decode', 'Examples:', '--model ./german'],
  ],
  [
    ['export-voice', '--help'],
    ['Usage: pocket export-voice', '--max-seconds', 'recordings/ voices/'],
  ],
  [
    ['voices', '--help'],
    ['Usage: pocket voices', '--model'],
  ],
  [
    ['models', '--help'],
    ['Usage: pocket models', 'download', 'verify', 'HF_TOKEN', 'Examples:'],
  ],
  [
    ['models', 'download', '--help'],
    ['Usage: pocket models download', '--voices', 'Examples:'],
  ],
  [
    ['help', 'encode'],
    ['Usage: pocket encode', 'Examples:'],
  ],
  [
    ['doctor', '--help'],
    ['Usage: pocket doctor', '--json', 'Exit code 1'],
  ],
])('explains itself: %j', async (args, parts) => {
  const { code, stdout, stderr } = await pocket(args, here)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const part of parts) expect(String(stdout)).toContain(part)
})

it.each([
  [['models'], 'Usage: pocket models'],
  [['models', 'fetch'], "unknown command 'fetch'"],
  [
    ['models', 'download'],
    "missing required argument 'id'\n(pocket models download --help lists what there is)",
  ],
])('says what is missing: %j', async (args, words) => {
  const { code, stdout, stderr } = await pocket(args, here)
  expect({ code, stdout: String(stdout) }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
})
