import type { KernelExports } from './runner.ts'

const known = new WeakMap<KernelExports, boolean>()

/**
 * Whether rows are better cut into digits than multiplied as integers of 16 bits, which gives the same sums: where the
 * build has the instruction, and the engine computes it right and fast. Processors without it need more instructions in
 * its place than it saves, and only time can tell. Takes a millisecond or two, once for each executor.
 */
export const prefersDigits = (kernels: KernelExports): boolean => {
  const answer = known.get(kernels) ?? (kernels.multipliesDigits() !== 0 && areDigitsFaster(kernels))
  known.set(kernels, answer)
  return answer
}

const turns = 5000
const rounds = 25

/**
 * Code that the engine has not optimised yet hides a part of the difference: there digits take as long as pairs with
 * the instruction and 1.2 times as long without, optimised 0.7 and 1.9 times.
 */
const most = 1.1

/** In most rounds: now and then the engine optimises, or the thread waits, in the middle of one. */
const areDigitsFaster = ({ repeatProducts }: KernelExports): boolean => {
  let won = 0
  for (let round = 0; round < rounds; round++) {
    const digits = timeOf(() => repeatProducts(1, turns))
    if (digits < most * timeOf(() => repeatProducts(0, turns))) won++
  }
  return won > rounds / 2
}

const timeOf = (work: () => void): number => {
  const begin = performance.now()
  work()
  return performance.now() - begin
}
