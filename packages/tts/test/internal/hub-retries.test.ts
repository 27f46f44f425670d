import { describe, expect, it } from 'vitest'
import { PocketTtsError } from '../../src/errors.ts'
import { type DownloadProgress, ProgressMeter } from '../../src/hub/progress.ts'
import { parseRetryAfter, sleep, TransientFailure, usualRetries, withRetries } from '../../src/hub/retry.ts'
import { SharedTasks } from '../../src/hub/shared-tasks.ts'

const never = new AbortController().signal

describe('Retry-After', () => {
  const now = Date.parse('2026-10-21T07:28:00Z')

  it.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['Wed, 21 Oct 2026 07:28:05 GMT', 5000],
    ['Wed, 21 Oct 2026 07:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
  ])('%j is %s ms', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected)
  })
})

describe('attempts', () => {
  const waits: number[] = []
  const policy = {
    attempts: 4,
    wait: async (ms: number) => {
      waits.push(ms)
    },
  }
  const failing = (times: number, error: () => Error) => {
    let calls = 0
    return async (): Promise<number> => {
      if (calls++ < times) throw error()
      return calls
    }
  }

  it('go on until one succeeds, each pause about twice the one before', async () => {
    waits.length = 0
    expect(
      await withRetries(
        failing(3, () => new TransientFailure('busy')),
        policy,
        never,
      ),
    ).toBe(4)
    for (const [index, wait] of waits.entries()) {
      expect(wait).toBeLessThanOrEqual(500 * 2 ** index)
      expect(wait).toBeGreaterThanOrEqual(375 * 2 ** index)
    }
  })

  it('end with what the last one met', async () => {
    const failed = withRetries(
      failing(9, () => new TransientFailure('busy')),
      policy,
      never,
    )
    await expect(failed).rejects.toThrow('busy; gave up after 4 attempts')
    await expect(failed).rejects.toBeInstanceOf(PocketTtsError)
  })

  it('do not repeat what will not pass', async () => {
    waits.length = 0
    await expect(
      withRetries(
        failing(1, () => new RangeError('no')),
        policy,
        never,
      ),
    ).rejects.toThrow(RangeError)
    expect(waits).toEqual([])
  })

  it('begin a new row where one got further', async () => {
    const progress = [true, true, true, true, true, false]
    const advanced = (): boolean => progress.shift() ?? false
    expect(
      await withRetries(
        failing(6, () => new TransientFailure('cut')),
        policy,
        never,
        advanced,
      ),
    ).toBe(7)
  })

  it('stop with the caller, also in a pause', async () => {
    const controller = new AbortController()
    const failed = withRetries(
      failing(9, () => new TransientFailure('busy')),
      usualRetries,
      controller.signal,
    )
    setTimeout(() => controller.abort(new Error('enough')), 20)
    await expect(failed).rejects.toThrow('enough')
    await expect(sleep(60_000, controller.signal)).rejects.toThrow('enough')
  })
})

describe('a meter', () => {
  const location = { owner: 'o', repo: 'r', path: 'a', revision: 'main' }
  const measure = (updates: [at: number, loaded: number][], total?: number): DownloadProgress[] => {
    const heard: DownloadProgress[] = []
    let now = 0
    const meter = new ProgressMeter(
      location,
      (progress) => heard.push(progress),
      () => now,
    )
    for (const [at, loaded] of updates) {
      now = at
      meter.update(loaded, total)
    }
    return heard
  }
  const rates = (heard: DownloadProgress[]): number[] => heard.map(({ bytesPerSecond }) => bytesPerSecond)

  it('does not count what was there before', () => {
    const heard = measure([
      [0, 1_000_000],
      [1000, 1_500_000],
    ])
    expect(rates(heard)).toEqual([0, 500_000])
    expect(heard[1]).toEqual({
      file: 'hf://o/r/a@main',
      loadedBytes: 1_500_000,
      totalBytes: undefined,
      bytesPerSecond: 500_000,
    })
  })

  it('forgets what is long ago', () => {
    const seconds: [number, number][] = Array.from({ length: 20 }, (_, second) => [
      second * 1000,
      second < 10 ? second * 10 : 100 + (second - 10) * 1000,
    ])
    expect(rates(measure(seconds)).at(-1)).toBe(1000)
  })

  it('starts again where the bytes do', () => {
    expect(
      rates(
        measure([
          [0, 0],
          [1000, 500],
          [2000, 0],
          [3000, 100],
        ]),
      ),
    ).toEqual([0, 500, 0, 100])
  })

  it('reports ten times a second, and the end', () => {
    const often: [number, number][] = Array.from({ length: 1001 }, (_, ms) => [ms, ms])
    const heard = measure(often, 1000)
    expect(heard.length).toBeGreaterThanOrEqual(10)
    expect(heard.length).toBeLessThanOrEqual(12)
    expect(heard.at(-1)?.loadedBytes).toBe(1000)
  })
})

describe('shared work', () => {
  const setUp = () => {
    const tasks = new SharedTasks<string, number>()
    const runs: {
      finish: (value: string) => void
      fail: (error: Error) => void
      signal: AbortSignal
      report: (n: number) => void
    }[] = []
    const work = (signal: AbortSignal, report: (n: number) => void): Promise<string> =>
      new Promise((finish, fail) => {
        signal.addEventListener('abort', () => fail(signal.reason))
        runs.push({ finish, fail, signal, report })
      })
    return { tasks, runs, work }
  }

  it('is done once for all who ask at the same time', async () => {
    const { tasks, runs, work } = setUp()
    const heard: number[][] = [[], []]
    const both = heard.map((mine) => tasks.run('a', work, { onProgress: (n) => mine.push(n) }))
    const other = tasks.run('b', work)
    runs[0]!.report(1)
    runs[0]!.finish('done')
    runs[1]!.finish('other')
    expect(await Promise.all([...both, other])).toEqual(['done', 'done', 'other'])
    expect(heard).toEqual([[1], [1]])
    expect(runs).toHaveLength(2)
    void tasks.run('a', work)
    expect(runs).toHaveLength(3)
  })

  it('fails for all, and can be tried again', async () => {
    const { tasks, runs, work } = setUp()
    const both = [tasks.run('a', work), tasks.run('a', work)]
    runs[0]!.fail(new Error('broken'))
    for (const each of both) await expect(each).rejects.toThrow('broken')
    const again = tasks.run('a', work)
    runs[1]!.finish('fine')
    expect(await again).toBe('fine')
  })

  it('goes on while anybody waits, and hears nothing of who left', async () => {
    const { tasks, runs, work } = setUp()
    const controller = new AbortController()
    const heard: number[] = []
    const leaving = tasks.run('a', work, { signal: controller.signal, onProgress: (n) => heard.push(n) })
    const staying = tasks.run('a', work)
    controller.abort(new Error('bye'))
    await expect(leaving).rejects.toThrow('bye')
    expect(runs[0]!.signal.aborted).toBe(false)
    runs[0]!.report(1)
    runs[0]!.finish('done')
    expect(await staying).toBe('done')
    expect(heard).toEqual([])
  })

  it('stops with the last, and starts anew for the next', async () => {
    const { tasks, runs, work } = setUp()
    const controllers = [new AbortController(), new AbortController()]
    const callers = controllers.map(({ signal }) => tasks.run('a', work, { signal }))
    for (const controller of controllers) controller.abort(new Error('bye'))
    for (const caller of callers) await expect(caller).rejects.toThrow('bye')
    expect(runs[0]!.signal.aborted).toBe(true)
    const next = tasks.run('a', work)
    runs[1]!.finish('new')
    expect(await next).toBe('new')
  })
})
