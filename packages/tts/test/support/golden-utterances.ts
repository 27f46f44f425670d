import type { GenerateOptions, NoiseSource, UtteranceChunk } from '@pocket/tts'
import { fixturePath, type Golden, readGoldens, readJson } from '@tooling/fixtures'

export interface GoldenChunk {
  text: string
  ids: number[]
  frames_after_eos: number
  max_gen_len: number
  steps_run: number
  frames: number
  eos_step: number | null
}

/** An utterance of the reference: what it was asked, and what came of it. */
export interface GoldenCase {
  case: string
  text: string
  temp: number
  lsd_decode_steps: number
  eos_threshold: number
  max_tokens: number
  frames_after_eos: number | null
  voice: string
  chunks: GoldenChunk[]
  frames: number
  samples: number
  steps_run: number
}

/** From the fixtures' README: 5e-5 for whole passes in float32; without noise small differences grow. */
export const toleranceOf = (name: string): number => (name === 'temp0' ? 1e-3 : 5e-5)
export const logitTolerance = 1e-3

/** The utterances of a tiny model, and their tensors. */
export class GoldenUtterances {
  readonly cases: readonly GoldenCase[]
  readonly #model: string
  readonly #goldens: ReadonlyMap<string, Golden>

  constructor(model: string) {
    this.#model = model
    this.cases = readJson<{ generate: GoldenCase[] }>(`tiny/${model}/golden.json`).generate
    this.#goldens = readGoldens(`tiny/${model}/golden.safetensors`)
  }

  /** Of a case: `noise`, `eos_logit`, `latent`; `pcm` of some. */
  tensor(name: string, what: string): Golden | undefined {
    return this.#goldens.get(`gen.${name}.${what}`)
  }

  values(name: string, what: string): Float32Array {
    return this.tensor(name, what)?.data ?? new Float32Array(0)
  }

  /** How the case is asked for. */
  options({ case: name, ...asked }: GoldenCase, noise: NoiseSource = this.noise(name)): GenerateOptions {
    return {
      voice: fixturePath(`tiny/${this.#model}/${asked.voice}`),
      temperature: asked.temp,
      lsdSteps: asked.lsd_decode_steps,
      eosThreshold: asked.eos_threshold,
      maxTokensPerChunk: asked.max_tokens,
      noise,
      ...(asked.frames_after_eos === null ? {} : { framesAfterEos: asked.frames_after_eos }),
    }
  }

  /** The golden rows in their order, however they are asked for; asking for more than there are is an error. */
  noise(name: string): NoiseSource & { rows: number } {
    const golden = this.tensor(name, 'noise')
    const [rows = 0, width] = golden?.shape ?? []
    return {
      rows: 0,
      next(length) {
        if (length !== width || this.rows >= rows)
          throw new Error(`there are ${rows} rows of ${width} values`)
        const start = this.rows++ * length
        return golden!.data.slice(start, start + length)
      },
    }
  }
}

export const chunksOf = ({ chunks }: GoldenCase): UtteranceChunk[] =>
  chunks.map((chunk) => ({
    text: chunk.text,
    ids: chunk.ids,
    framesAfterEos: chunk.frames_after_eos,
    maxFrames: chunk.max_gen_len,
    frames: chunk.frames,
    eosStep: chunk.eos_step,
  }))

/** A chunk's last step is computed only where its logit can end the chunk, which is when nothing follows the end. */
const computedSteps = ({ frames, frames_after_eos, eos_step }: GoldenChunk): number =>
  eos_step !== null && frames_after_eos === 0 ? frames + 1 : frames

/** Of one value per step of the reference, those of the steps that are computed. */
export const computed = <T>(chunks: readonly GoldenChunk[], perStep: readonly T[]): T[] => {
  let start = 0
  return chunks.flatMap((chunk) => {
    const values = perStep.slice(start, start + computedSteps(chunk))
    start += chunk.steps_run
    return values
  })
}

/** Of one value per computed step, those of the emitted frames. */
export const emitted = <T>(chunks: readonly GoldenChunk[], perComputedStep: readonly T[]): T[] => {
  let start = 0
  return chunks.flatMap((chunk) => {
    const values = perComputedStep.slice(start, start + chunk.frames)
    start += computedSteps(chunk)
    return values
  })
}
