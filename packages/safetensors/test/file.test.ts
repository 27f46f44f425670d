import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeSafeTensors } from '@pocket/safetensors'
import { openFile } from '@pocket/safetensors/node'
import { fixturePath, readGoldens } from '@tooling/fixtures'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failure, failureCode, sameBytes } from './make-file.ts'

const golden = 'tiny/tiny-2026-04/golden.safetensors'
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'safetensors-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const fileOf = (name: string, bytes: Uint8Array | string): string => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

const large = () =>
  writeSafeTensors({ x: { dtype: 'F32', shape: [1 << 20], data: new Float32Array(1 << 20).fill(0.5) } })

describe('openFile', () => {
  test('a tensor is read into memory that holds it, and into new memory where that does not', async () => {
    await using file = await openFile(fixturePath(golden))
    const [name = ''] = file.names()
    const { byteLength } = file.info(name)
    const expected = await file.bytes(name)
    const large = new Uint8Array(byteLength + 3).fill(7)
    const bytes = await file.bytes(name, large)
    expect(bytes.buffer).toBe(large.buffer)
    expect(sameBytes(bytes, expected)).toBe(true)
    expect([...large.subarray(byteLength)]).toEqual([7, 7, 7])

    const small = new Uint8Array(byteLength - 1)
    expect(sameBytes(await file.bytes(name, small), expected)).toBe(true)
    expect(small.every((byte) => byte === 0)).toBe(true)
  })

  test('tensors one by one and all at once, by path and by URL', async () => {
    const expected = [...readGoldens(golden)]
    for (const path of [fixturePath(golden), pathToFileURL(fixturePath(golden))]) {
      await using file = await openFile(path)
      const arrays = await Promise.all(expected.map(([name]) => file.f32(name)))
      for (const [i, [, { data }]] of expected.entries()) {
        expect(sameBytes(arrays[i]?.data ?? new Uint8Array(0), data)).toBe(true)
      }
    }
  })

  test('a closed file: reads under way end well, later ones are refused, the header stays', async () => {
    const file = await openFile(fileOf('closing.safetensors', large()))
    const reading = Promise.all([file.f32('x'), file.bytes('x')])
    const closing = file.close()
    expect(await failureCode(() => file.f32('x'))).toBe('closed')
    const [array] = await reading
    expect(array.data.every((value) => value === 0.5)).toBe(true)
    await closing
    await file.close()
    await file[Symbol.asyncDispose]()
    expect(file.info('x').shape).toEqual([1 << 20])
    expect((await failure(() => file.bytes('x'))).message).toContain('closing.safetensors is closed')
  })

  test('a file that shrinks while it is open', async () => {
    const path = fileOf('shrinking.safetensors', large())
    await using file = await openFile(path)
    truncateSync(path, 1000)
    const error = await failure(() => file.bytes('x'))
    expect(error.code).toBe('truncated')
    expect(error.message).toContain('ends at byte 1000')
  })
})

describe('refusals', () => {
  test('no such file', async () => {
    const path = join(folder, 'missing.safetensors')
    const error = await failure(() => openFile(path))
    expect(error.code).toBe('file-not-found')
    expect(error.message).toBe(`there is no file ${path}`)
    expect(error.cause).toHaveProperty('code', 'ENOENT')
    const below = join(fileOf('plain.txt', 'x'), 'model.safetensors')
    expect(await failureCode(() => openFile(below))).toBe('file-not-found')
  })

  test('a directory', async () => {
    const error = await failure(() => openFile(folder))
    expect(error.code).toBe('not-a-file')
    expect(error.message).toContain(folder)
  })

  test.skipIf(process.platform === 'win32')('a pipe, without waiting for its writer', async () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    expect(await failureCode(() => openFile(path))).toBe('not-a-file')
  })

  test('paths that no system call takes', async () => {
    expect(await failureCode(() => openFile('a\0b'))).toBe('read-failed')
    expect(await failureCode(() => openFile(new URL('https://example.com/x')))).toBe('read-failed')
    expect(await failureCode(() => openFile(undefined as unknown as string))).toBe('read-failed')
  })

  test('what is no safetensors file: the message names the path, and the file is closed', async () => {
    const path = fileOf('page.safetensors', '<!doctype html>')
    expect((await failure(() => openFile(path))).message).toBe(
      `${path}: no safetensors file: it seems to be an HTML page, perhaps the login or error page of a download`,
    )
    const cut = fileOf('cut.safetensors', large().subarray(0, 5000))
    const error = await failure(() => openFile(cut))
    expect(error.code).toBe('truncated')
    expect(error.message.startsWith(`${cut}: `)).toBe(true)
  })
})
