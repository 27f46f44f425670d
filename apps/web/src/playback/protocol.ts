import type { RingMetrics } from './ring.ts'

/** What the page tells the worklet. `id` numbers utterances: what belongs to an earlier one is ignored. */
export type PlaybackCommand =
  | { readonly command: 'begin'; readonly id: number; readonly prefill: number }
  | { readonly command: 'push'; readonly id: number; readonly samples: Float32Array }
  | { readonly command: 'end'; readonly id: number }
  | { readonly command: 'stop'; readonly id: number }

/** What the worklet tells the page: about 20 times a second, at the first sound, and at the end. */
export interface PlaybackReport extends RingMetrics {
  readonly id: number
  readonly isFinished: boolean
}

/** Samples that the worklet's ring holds: 4 s at 24 kHz, so that a busy page is not heard. */
export const RING_CAPACITY = 96_000
