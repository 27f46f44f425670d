import { KernelError } from './errors.ts'
import { check, checkSize } from './source-checks.ts'
import type { KvCache, KvCacheOptions } from './states.ts'

/** What every executor refuses of the states that it makes. */

/** Throws KernelError `shape`. */
export const checkKvCache = ({ heads, headDim, capacity, window }: KvCacheOptions): void => {
  checkSize('kvCache: heads', heads)
  checkSize('kvCache: headDim', headDim)
  checkSize('kvCache: capacity', capacity)
  if (window !== undefined) checkSize('kvCache: window', window)
  check(headDim % 2 === 0, `kvCache: headDim is ${headDim}, expected an even number: rotary pairs`)
}

/** Refusals of `KvCache.load`: KernelError `capacity` or `shape`. */
export const checkLoad = (
  cache: Pick<KvCache, 'heads' | 'headDim' | 'capacity'>,
  k: Float32Array,
  v: Float32Array,
  positions: number,
): void => {
  if (positions > cache.capacity) {
    throw new KernelError('capacity', `${positions} positions do not fit a KV cache of ${cache.capacity}`)
  }
  const length = positions * cache.heads * cache.headDim
  if (k.length !== length || v.length !== length) {
    throw new KernelError(
      'shape',
      `${positions} positions are ${length} values, got ${k.length} and ${v.length}`,
    )
  }
}

/** Refusals of `KvCache.continued`, for a cache that may be continued from another: KernelError `unavailable` or `capacity`. */
export const checkContinued = (
  cache: Pick<KvCache, 'window' | 'position'>,
  capacity: number,
  isContinued: boolean,
): void => {
  if (cache.window !== undefined || isContinued) {
    const what = isContinued ? 'one that is continued itself' : 'one with a window'
    throw new KernelError('unavailable', `only a linear KV cache can be continued, and not ${what}`)
  }
  if (cache.position > capacity) {
    throw new KernelError(
      'capacity',
      `${cache.position} positions do not fit a continued KV cache of ${capacity}`,
    )
  }
}

/** Refusals of `KvCache.read`: KernelError `unavailable` or `shape`. */
export const checkRead = (cache: Pick<KvCache, 'window' | 'position'>, from: number): void => {
  if (cache.window !== undefined) throw new KernelError('unavailable', 'only a linear KV cache can be read')
  if (!(from >= 0 && from <= cache.position)) {
    throw new KernelError('shape', `read from position ${from} of ${cache.position}`)
  }
}
