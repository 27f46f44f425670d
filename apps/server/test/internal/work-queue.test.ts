import { describe, expect, it } from 'vitest'
import { QueueFullError, WorkQueue } from '../../src/speech/work-queue.ts'

const never = new AbortController().signal

describe('WorkQueue', () => {
  it('lets so many work, so many wait in order, and sends the rest away', async () => {
    const queue = new WorkQueue(2, 2)
    const releases = [await queue.enter(never), await queue.enter(never)]
    const begun: string[] = []
    const waiting = ['third', 'fourth'].map(async (name) => {
      const release = await queue.enter(never)
      begun.push(name)
      return release
    })
    await expect(queue.enter(never)).rejects.toThrow(QueueFullError)
    expect([queue.running, queue.waiting]).toEqual([2, 2])
    releases[1]!()
    await waiting[0]
    expect(begun).toEqual(['third'])
    expect([queue.running, queue.waiting]).toEqual([2, 1])
    releases[0]!()
    for (const release of await Promise.all(waiting)) release()
    expect(begun).toEqual(['third', 'fourth'])
    expect([queue.running, queue.waiting]).toEqual([0, 0])
  })

  it('takes a turn back once, however often it is given', async () => {
    const queue = new WorkQueue(1, 1)
    const release = await queue.enter(never)
    release()
    release()
    await queue.enter(never)
    expect(queue.running).toBe(1)
  })

  it('forgets whoever stops waiting, with the reason', async () => {
    const queue = new WorkQueue(1, 1)
    const release = await queue.enter(never)
    const controller = new AbortController()
    const waiting = queue.enter(controller.signal)
    controller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    expect(queue.waiting).toBe(0)
    release()
    expect(queue.running).toBe(0)
  })

  it('lets nobody in who has left already', async () => {
    const queue = new WorkQueue(1, 1)
    await expect(queue.enter(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
    expect(queue.running).toBe(0)
  })

  it('tells when to come back: a whole number of seconds, a minute at most', async () => {
    const queue = new WorkQueue(1, 500)
    await queue.enter(never)
    for (let i = 0; i < 500; i++) void queue.enter(never)
    const error = await queue.enter(never).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ retryAfter: 60 })
  })
})
