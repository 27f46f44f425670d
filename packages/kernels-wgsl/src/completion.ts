/** What no engine takes that tells of completion by itself, on an idle device: milliseconds. */
const idlePatience = 25

/** The first wait may end by chance with an engine's next look; the second then begins right behind it. */
const rounds = 2

/** Between nudges, in milliseconds: far more than a nudge costs, and far less than an engine sleeps. */
const interval = 2

/**
 * Whether the engine looks for finished work only now and then, unless something is submitted: Firefox does every 100 ms
 * (ekzhang/jax-js#123). Found by waiting for an idle queue, which takes others no time. A busy machine may be taken for
 * one that has to be nudged, which costs it some empty submissions.
 */
export const hasToBeNudged = async (queue: GPUQueue): Promise<boolean> => {
  for (let round = 0; round < rounds; round++) {
    const done = queue.onSubmittedWorkDone()
    if (await isSettledWithin(done, idlePatience)) continue
    await nudged(queue, done)
    return true
  }
  return false
}

/** Waits for `completion`, with empty submissions that make such an engine look. */
export const nudged = async (queue: GPUQueue, completion: Promise<unknown>): Promise<void> => {
  let timer: ReturnType<typeof setTimeout>
  const nudge = (): void => {
    queue.submit([])
    timer = setTimeout(nudge, interval)
  }
  timer = setTimeout(nudge, interval)
  try {
    await completion
  } finally {
    clearTimeout(timer)
  }
}

const isSettledWithin = async (work: Promise<unknown>, milliseconds: number): Promise<boolean> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds)
  })
  const settled = work.then(
    () => true,
    () => true,
  )
  try {
    return await Promise.race([settled, late])
  } finally {
    clearTimeout(timer)
  }
}
