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

/**
 * A plan of `products`, each of which is a piece that no two threads can share: it has a panel of outputs, and fewer rows
 * than are worth cutting. One takes some milliseconds.
 */
const indivisible = (kernels: CpuKernels, products: number): Plan => {
  const [rows, inputs, outputs] = [63, 1 << 15, 8]
  const bytes = new Uint8Array(new Float32Array(outputs * inputs).fill(0.5).buffer)
  const matrix = kernels.matrix({ weight: { dtype: 'F32', shape: [outputs, inputs], bytes } })
  const plan = kernels.plan(
    record('indivisible', (ops) => {
      const x = ops.input('x', rows, inputs)
      for (let n = 0; n < products; n++) ops.tap(`y${n}`, ops.linear(x, matrix))
    }),
  )
  plan.write('x', new Float32Array(rows * inputs).fill(1))
  return plan
}

const threadFailed = (what: string) =>
  expect.objectContaining({
    name: 'KernelError',
    code: 'thread-failed',
    message: expect.stringMatching(new RegExp(`${what}.*Make another executor`)),
  })

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
    expect(() => product.run()).toThrowError(threadFailed('it has ended'))
    await ended
    kernels.dispose()
  })
})

describe.skipIf(probeSimd() === 'scalar')('a thread that is killed while it holds a piece', () => {
  /** Enough work for the threads to be in the middle of it when the test looks. */
  const products = 100

  const killMidway = async () => {
    const { kernels, started, ended } = await start(2)
    const cut = indivisible(kernels, products)
    cut.start()
    // The host, which is here, takes no part: the other thread is at some product of many.
    await new Promise((resolve) => setTimeout(resolve, 20))
    return { kernels, cut, killed: started[0]!.terminate(), ended }
  }

  it('is missed as soon as its end is known, and another executor works', async () => {
    const { kernels, cut, killed, ended } = await killMidway()
    await killed
    await expect(cut.read('y0')).rejects.toThrowError(threadFailed('it has ended'))
    expect(() => cut.run()).toThrowError(threadFailed('it has ended'))
    await ended
    kernels.dispose()
    const next = await start(2)
    expect(await result(plan(next.kernels))).toEqual(new Set([256]))
    next.kernels.dispose()
  })

  // Ten seconds, by naps of a millisecond, which are longer where others want the processor too.
  it('is given up by whoever waits for that piece, though nobody could tell of its end meanwhile', async () => {
    for (;;) {
      const { kernels, cut, ended } = await killMidway()
      const failure = await cut.read('y0').then(
        ({ data }) => data,
        (error: unknown) => error,
      )
      if (failure instanceof Float32Array) {
        // It had not begun, or was between two pieces: whoever waits does the rest.
        expect(new Set(failure)).toEqual(new Set([1 << 14]))
      } else {
        expect(failure).toEqual(threadFailed('it holds work that it does not end'))
        expect(() => cut.run()).toThrowError(threadFailed('it holds work that it does not end'))
      }
      await ended
      kernels.dispose()
      if (!(failure instanceof Float32Array)) break
    }
  }, 180_000)
})
