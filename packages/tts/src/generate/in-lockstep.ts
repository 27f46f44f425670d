import type { FrameSource, NoiseRows, Step, StepOptions } from './frame-source.ts'

/** The steps of a chunk, without an end, each made when it is asked for: those after `latest`, null at the beginning. */
export async function* inLockstep(
  source: FrameSource,
  noise: NoiseRows,
  options: StepOptions,
  latest: Float32Array | null = null,
): AsyncGenerator<Step, never, void> {
  let previous = latest
  while (true) {
    const step: Step = await source.next(previous, noise.next(), options)
    yield step
    previous = step.latent
  }
}
