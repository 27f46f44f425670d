import { describe, expect, it } from 'vitest'
import { french, useHub } from './hub.ts'

const hub = useHub()

describe('pocket doctor', () => {
  it('looks at everything, and finds this machine fine', async () => {
    hub.publishFrench()
    await hub.pocket(['models', 'download', french.id])
    const asked = hub.server.seen.length
    const { code, stdout, stderr } = await hub.pocket(['doctor'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const line of [
      /^node +\d+\.\d+\.\d+$/m,
      /^machine +\w+ \S+ on \w+: .*, \d+ cores?, [\d.]+ GB of memory$/m,
      /^kernels +(relaxed|simd); self-tests: relaxed (passed|unavailable), simd passed$/m,
      /^threads +\d+ used of \d+$/m,
      /^webgpu +\S.*(, not used: \S|: right, and faster: )/m,
      /^hub +http:\/\/127\.0\.0\.1:\d+, online/m,
      /^token +none: models come without voice cloning$/m,
      /^cache +\S+: 2\.8 MB of published models, [\d.]+ [GM]B free\n +french_24l +2\.8 MB: weights without/m,
      /^model +the embedded model speaks: [\d.]+ ms for a frame of 80 ms \([\d.]+ × real time\)/m,
      /^ +with --backend (cpu --simd (relaxed|simd) --threads \d+|gpu)$/m,
    ]) {
      expect(stdout).toMatch(line)
    }
    expect(hub.server.seen).toHaveLength(asked)
  })

  it('tells programs in JSON, and nobody the token', async () => {
    const run = await hub.pocket(['doctor', '--json'], { HF_TOKEN: 'hf_s3cret', HF_HUB_OFFLINE: '1' })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).not.toContain('s3cret')
    const report = JSON.parse(run.stdout)
    expect(report).toMatchObject({
      ok: true,
      node: { state: 'fine' },
      kernels: { selfTests: { simd: { result: 'passed' } } },
      hub: { offline: true },
      token: { present: true, from: 'HF_TOKEN' },
      cache: { folder: hub.cache, files: 0, bytes: 0, models: [] },
      model: { state: 'fine', frames: expect.any(Number), backend: expect.stringMatching(/^(cpu|gpu)$/) },
    })
    expect(report.model.msPerFrame).toBeGreaterThan(0)
  })

  it('says what is broken, with exit code 1, and looks at the rest all the same', async () => {
    const { code, stdout, stderr } = await hub.pocket(['doctor'], {
      HF_HUB_CACHE: '/dev/null/cache',
      HF_ENDPOINT: 'nowhere',
    })
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'pocket: something is broken: hub, token, cache\n' })
    expect(stdout).toMatch(/^hub +BROKEN: HF_ENDPOINT is "nowhere"/m)
    expect(stdout).toMatch(/^model +the embedded model speaks/m)
  })

  it('says why nothing can be kept', async () => {
    const run = await hub.pocket(['doctor', '--json'], { HF_HUB_CACHE: '/dev/null/cache' })
    expect(run.code).toBe(1)
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: false,
      cache: { state: 'broken', error: expect.stringContaining('nothing can be kept in /dev/null/cache') },
    })
  })
})
