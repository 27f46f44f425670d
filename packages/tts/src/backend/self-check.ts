import type { KnownFrames } from './known-frames.ts'

/**
 * Largest relative difference, in L2, that arithmetic in another order explains: measured are 3e-7 to 5e-4, while a
 * driver that computes wrongly gives 0.1 or NaN.
 */
const tolerance = 1e-2

/** Where a backend's frames differ from the CPU's by more than rounding, in words; undefined where they do not. */
export const findDifference = (found: KnownFrames, expected: KnownFrames): string | undefined => {
  for (let frame = 0; frame < expected.pcm.length; frame++) {
    const differences = {
      latents: relativeDifference(found.latents[frame], expected.latents[frame]),
      'the logit of the end of speech': relativeDifference(
        found.eosLogits.slice(frame, frame + 1),
        expected.eosLogits.slice(frame, frame + 1),
      ),
      samples: relativeDifference(found.pcm[frame], expected.pcm[frame]),
    }
    for (const [what, difference] of Object.entries(differences)) {
      // Written so that NaN is a difference.
      if (difference <= tolerance) continue
      return `${what} of frame ${frame} differ from the CPU's by ${(100 * difference).toPrecision(2)} %`
    }
  }
  return undefined
}

const relativeDifference = (found: ArrayLike<number> = [], expected: ArrayLike<number> = []): number => {
  let difference = 0
  let size = 0
  for (let i = 0; i < expected.length; i++) {
    difference += ((found[i] ?? Number.NaN) - (expected[i] ?? 0)) ** 2
    size += (expected[i] ?? 0) ** 2
  }
  return Math.sqrt(difference) / Math.max(Math.sqrt(size), Number.MIN_VALUE)
}
