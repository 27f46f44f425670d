import { describe, expect, it } from 'vitest'
import { useFolder } from './folder.ts'
import { finished, pocket, start } from './pocket.ts'

const folder = useFolder()

describe('pocket serve', () => {
  it('has help of its own', async () => {
    const { code, stdout } = await pocket(['serve', '--help'], folder.path)
    expect(code).toBe(0)
    expect(String(stdout)).toMatch(/^Usage: pocket serve /)
    expect(String(stdout)).toContain('--max-text')
  })

  it.each([
    ['an unknown flag', ['--colour'], /^pocket serve: unknown option '--colour'/],
    ['a port beyond all', ['--port', '70000'], /^pocket: port: /],
  ])('refuses %s, with exit code 2', async (_title, flags, message) => {
    const { code, stdout, stderr } = await pocket(['serve', ...flags], folder.path)
    expect({ code, stdout: String(stdout) }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  it('speaks until it is told to stop', async () => {
    const child = start(['serve', '--port', '0'], folder.path)
    const end = finished(child)
    const url = await new Promise<string>((resolve) => {
      child.stdout!.on('data', (line: Buffer) => {
        const found = /"url":"([^"]+)"/.exec(String(line))?.[1]
        if (found) resolve(found)
      })
    })
    const form = new FormData()
    form.set('text', 'Hello.')
    const response = await fetch(`${url}/tts`, { method: 'POST', body: form })
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1920)
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code: 0, stderr: '' })
  })
})
