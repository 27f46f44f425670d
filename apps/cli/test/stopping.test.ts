import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeWav } from '@pocket/tts'
import { describe, expect, it } from 'vitest'
import { useFolder } from './folder.ts'
import { finished, start } from './pocket.ts'

const folder = useFolder()
const longText = 'The old man sat by the window and read his newspaper. '.repeat(200)

/** Waits until the temporary file is there and longer than `bytes`. */
const untilWritten = async (bytes: number) => {
  while (!folder.files().some((name) => name.endsWith('.part') && folder.read(name).length > bytes))
    await sleep(10)
}

describe('stopping', () => {
  it.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'by %s leaves no partial file, keeps the older one, and exits with %i',
    async (signal, code) => {
      writeFileSync(join(folder.path, 'x.wav'), 'precious')
      const child = start(['generate', longText, '-o', 'x.wav'], folder.path)
      const end = finished(child)
      await untilWritten(44)
      child.kill(signal)
      expect(await end).toMatchObject({ code, stderr: '' })
      expect(folder.files()).toEqual(['x.wav'])
      expect(String(Buffer.from(folder.read('x.wav')))).toBe('precious')
    },
  )

  it('in the middle of a recording', async () => {
    writeFileSync(join(folder.path, 'long.wav'), encodeWav(new Float32Array(24000 * 60)))
    const child = start(['encode', 'long.wav', '-o', 'x.safetensors'], folder.path)
    const end = finished(child)
    await untilWritten(-1)
    child.kill('SIGINT')
    expect(await end).toMatchObject({ code: 130, stderr: '' })
    expect(folder.files()).toEqual(['long.wav'])
  })

  it('while it waits for text', async () => {
    const child = start(['generate', '-'], folder.path)
    const end = finished(child)
    await untilWritten(-1)
    child.kill('SIGINT')
    expect(await end).toMatchObject({ code: 130, stderr: '' })
    expect(folder.files()).toEqual([])
  })

  it('is quiet when the reader of standard output goes away', async () => {
    const child = start(['generate', longText, '-o', '-'], folder.path)
    const end = finished(child)
    child.stdout?.once('data', () => child.stdout?.destroy())
    expect(await end).toMatchObject({ code: 0, stderr: '' })
  })
})
