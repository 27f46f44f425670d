import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root } from '../src/workspace.mjs'

const run = promisify(execFile)

it('speaks into the folder it was called in, and neither installs nor builds what is fresh', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'speak-'))
  const speak = (...args: string[]) =>
    run(process.execPath, [join(root, 'tooling/bootstrap/speak.mjs'), ...args], {
      cwd: root,
      env: { ...process.env, INIT_CWD: folder },
    })
  try {
    // The first call may have something to build, the second has not.
    await speak('Hello.')
    const { stdout, stderr } = await speak('Hello.')
    expect(stderr).toBe('')
    expect(stdout).toMatch(
      /^speech\.wav: \d\.\d\d s of speech, made in \d+\.\d\d s \(\d+\.\d × real time\)\n$/,
    )
    expect(readdirSync(folder)).toEqual(['speech.wav'])
    expect(readFileSync(join(folder, 'speech.wav')).toString('latin1', 0, 4)).toBe('RIFF')
    await expect(speak('')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('text is empty'),
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 300_000)
