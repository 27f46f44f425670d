import { once } from 'node:events'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Worker } from 'node:worker_threads'
import { type CpuKernels, createCpuKernels, probeSimd } from '@pocket/kernels-cpu'
import { type Plan, record } from '@pocket/nn'
import { describe, expect, it } from 'vitest'

/** An executor, the threads it started, and their ends. */
const start = async (threads: number) => {
  const started: Worker[] = []
  const watch = (thread: Worker): void => void started.push(thread)
  process.on('worker', watch)
  try {
    const kernels = await createCpuKernels({ threads })
    return { kernels, started, ended: Promise.all(started.map((thread) => once(thread, 'exit'))) }
  } finally {
    process.off('worker', watch)
  }
}

/** A plan with work for all threads. */
const plan = (kernels: CpuKernels): Plan => {
  const values = new Float32Array(512 * 512).fill(0.5)
  const weight = { dtype: 'F32' as const, shape: [512, 512], bytes: new Uint8Array(values.buffer) }
  const matrix = kernels.matrix({ weight })
  const product = kernels.plan(
    record('product', (ops) => {
      ops.tap('y', ops.linear(ops.input('x', 1, 512), matrix))
    }),
  )
  product.write('x', new Float32Array(512).fill(1))
  return product
}

const result = async (product: Plan): Promise<Set<number>> => {
  product.run()
  return new Set((await product.read('y')).data)
}

describe.skipIf(probeSimd() === 'scalar')('the threads of an executor', () => {
  it('are one fewer than it works with, and end with it', async () => {
    const { kernels, started, ended } = await start(4)
    expect(started).toHaveLength(3)
    expect(await result(plan(kernels))).toEqual(new Set([256]))
    kernels.dispose()
    await ended
    kernels.dispose()
  })

  it('end while they sleep, and before they have done anything', async () => {
    const idle = await start(3)
    const product = plan(idle.kernels)
    await result(product)
    // Long enough for them to fall asleep, though the test holds whether they do or not.
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await result(product)).toEqual(new Set([256]))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const fresh = await start(3)
    for (const { kernels, ended } of [idle, fresh]) {
      kernels.dispose()
      await ended
    }
  })

  it('are none where one works alone', async () => {
    const { kernels, started } = await start(1)
    expect(started).toEqual([])
    kernels.dispose()
  })

  it('leave nothing behind, however many executors come and go', async () => {
    for (let round = 0; round < 5; round++) {
      const crews = await Promise.all(Array.from({ length: 6 }, () => start(3)))
      for (const { kernels } of crews) expect(await result(plan(kernels))).toEqual(new Set([256]))
      for (const { kernels } of crews) kernels.dispose()
      await Promise.all(crews.map(({ ended }) => ended))
    }
  })

  it('end when nobody knows the executor any more', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { ended } = await (async () => {
      const { kernels, ended } = await start(3)
      await result(plan(kernels))
      return { ended }
    })()
    let isOver = false
    ended.then(() => {
      isOver = true
    })
    for (let attempt = 0; attempt < 200 && !isOver; attempt++) {
      collect()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(isOver).toBe(true)
  })

  it('take the executor with them when one ends by itself, and nothing hangs', async () => {
    const { kernels, started, ended } = await start(3)
    const product = plan(kernels)
    await result(product)
    await started[0]!.terminate()
    expect(() => product.run()).toThrowError(
      expect.objectContaining({
        name: 'KernelError',
        code: 'thread-failed',
        message: expect.stringContaining('Make another executor'),
      }),
    )
    await ended
    kernels.dispose()
  })
})
