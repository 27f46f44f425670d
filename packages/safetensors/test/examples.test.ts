import { createReadStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fixturePath } from '@tooling/fixtures'
import { afterEach, expect, test, vi } from 'vitest'

const { argv } = process
afterEach(() => {
  process.argv = argv
  vi.restoreAllMocks()
})

/** What an example prints, run as `node examples/NAME.ts ARGUMENTS`. */
const outputOf = async (name: string, ...args: string[]): Promise<string> => {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((...values) => {
    lines.push(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' '))
  })
  process.argv = ['node', name, ...args]
  await import(`../examples/${name}.ts`)
  return lines.join('\n')
}

const sourceOf = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

test('round-trip', async () => {
  expect(await outputOf('round-trip')).toBe(
    'pt\nlinear.weight: F32 [2,3] = 1,2,3,4,5,6\nlinear.bias: BF16 [2] = 1,-2',
  )
})

test('inspect-checkpoint', async () => {
  const path = fixturePath('tiny/tiny-2026-04/golden.safetensors')
  const output = await outputOf('inspect-checkpoint', path, 'ar.latent')
  expect(output).toContain('ar.latent  F32 [64,32]  8192 bytes')
  expect(output).toMatch(/ar\.latent begins with -?\d/)
})

test('write-checkpoint', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'safetensors-'))
  try {
    const output = await outputOf('write-checkpoint', join(folder, 'linear.safetensors'))
    expect(output).toBe('step 1000\nlinear.weight [64,32]: BF16 is off by 0.00024 at most')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('remote-ranges', async () => {
  const path = fixturePath('tiny/tiny-2026-04/golden.safetensors')
  const { size } = statSync(path)
  let sent = 0
  const server = createServer((request, response) => {
    const [, begin, end] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
    if (begin === undefined || end === undefined) {
      response.writeHead(200, { 'content-length': size }).end()
      return
    }
    sent += Number(end) - Number(begin) + 1
    response.writeHead(206)
    createReadStream(path, { start: Number(begin), end: Number(end) }).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    expect(await outputOf('remote-ranges', `http://127.0.0.1:${port}/model.safetensors`)).toContain(
      'ar.latent [64,32]',
    )
    expect(sent).toBeLessThan(size / 4)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('the README shows the examples as they are', () => {
  const blocks = [...sourceOf('README.md').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block]) => block)
  expect(blocks).toContain(sourceOf('examples/round-trip.ts'))
  expect(blocks).toContain(sourceOf('examples/inspect-checkpoint.ts'))
  expect(blocks).toHaveLength(2)
})
