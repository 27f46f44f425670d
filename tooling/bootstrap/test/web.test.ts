import { spawn } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { expect, it } from 'vitest'
import { root } from '../src/workspace.mjs'

it('serves the page, isolated from other origins, until it is told to stop', async () => {
  const child = spawn(process.execPath, [join(root, 'tooling/bootstrap/web.mjs'), '--port', '0'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise((resolve) => child.on('close', resolve))
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk
        const found = /http:\/\/127\.0\.0\.1:[1-9]\d*\//.exec(
          output.replaceAll('\u001b[1m', '').replaceAll('\u001b[22m', ''),
        )
        if (found) resolve(found[0])
      })
      child.on('close', (code) => reject(new Error(`ended with ${code}: ${output}`)))
    })
    const response = await fetch(url)
    expect(await response.text()).toContain('<title>Pocket')
    expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(response.headers.get('cross-origin-embedder-policy')).toBe('require-corp')
  } finally {
    child.kill('SIGTERM')
    await closed
  }
}, 300_000)
