/** Runs `work` while no other tab or worker of the origin does so under the same name, where the browser can say. */
export const withTabLock = <T>(name: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  const locks = globalThis.navigator?.locks
  // Of pages that are not served securely, as is cache storage: then nothing is shared anyway.
  if (!locks) return work()
  return locks.request(name, { signal }, work) as Promise<T>
}
