import type { Checkpoint } from '@pocket/nn'
import { MimiError } from './errors.ts'

/** The sizes of a codec. All but the four marked "not in the shapes" are read off the checkpoint's tensors. */
export interface MimiConfig {
  /** Samples per second: 24000. Not in the shapes. */
  readonly sampleRate: number
  /** Samples per frame: the product of the ratios and the resample stride (1920 = 6 · 5 · 4 · 16). */
  readonly frameSize: number
  /** Frames per second: sampleRate / frameSize (12.5). */
  readonly frameRate: number
  /** Values of a latent that the decoder takes. */
  readonly latentDim: number
  /** Values of a latent that the encoder gives: latentDim, or more where the latents are meant for something else. */
  readonly innerDim: number
  /** Width of the transformers and of the SEANets' inner ends. */
  readonly dModel: number
  /** Layers of each of the two transformers. */
  readonly layers: number
  /** Attention heads: 8. Not in the shapes. */
  readonly heads: number
  /** Positions that a position attends to, itself included: 250. Not in the shapes. */
  readonly context: number
  /** Longest period of the rotary embedding, in positions × 2π: 10000. Not in the shapes. */
  readonly maxPeriod: number
  /** How much each stage of the SEANet decoder upsamples; the encoder's stages are these, reversed. */
  readonly ratios: readonly number[]
  /** Transformer positions per frame: 16. */
  readonly resampleStride: number
}

/** What every configuration file of kyutai-labs/pocket-tts 2.1.0 says, or leaves to the same defaults. */
const notInShapes = { sampleRate: 24000, heads: 8, context: 250, maxPeriod: 10000 }

/** No Mimi has longer frames than 1920; a file that asks for more than this is damaged, and memory is finite. */
const largestFrame = 1 << 16

/** More than five minutes at 200 positions a second; beyond that a setting is a slip, and memory is finite. */
const largestContext = 1 << 16

/**
 * Reads the sizes off the tensors' shapes. `stated` is what a configuration file says: it decides what the shapes
 * leave open and must agree with them otherwise.
 */
export const readConfig = (checkpoint: Checkpoint, stated: Partial<MimiConfig> = {}): MimiConfig => {
  const sizes = { ...readShapes(checkpoint, stated), ...openSettings(stated) }
  const frameSize = sizes.ratios.reduce((product, ratio) => product * ratio, sizes.resampleStride)
  if (frameSize > largestFrame) {
    throw new MimiError('wrong-shape', `a frame of ${frameSize} samples, expected at most ${largestFrame}`)
  }
  const config = { ...sizes, frameSize, frameRate: sizes.sampleRate / frameSize }
  checkAgreement(config, stated)
  checkHeads(config)
  return config
}

const readShapes = (checkpoint: Checkpoint, stated: Partial<MimiConfig>) => {
  const [dModel = 0, latentDim = 0] = checkpoint.shape('quantizer.output_proj.weight', 3)
  if (dModel < 1 || latentDim < 1) {
    throw new MimiError('wrong-shape', `quantizer.output_proj.weight is [${dModel}, ${latentDim}, …]`)
  }
  checkpoint.shape('decoder_transformer.transformer.layers.0.linear1.weight', 2)
  const downsample = 'downsample.conv.conv.weight'
  return {
    dModel,
    latentDim,
    innerDim: checkpoint.has(downsample) ? sizeAt(checkpoint, downsample, 0) : (stated.innerDim ?? latentDim),
    layers: checkpoint.countLayers('decoder_transformer.transformer.'),
    resampleStride: halfKernel(checkpoint, 'upsample.convtr.convtr.weight'),
    ratios: readRatios(checkpoint),
  }
}

const readRatios = (checkpoint: Checkpoint): number[] => {
  const ratios: number[] = []
  // The reference numbers ELUs too: each stage is ELU, transposed convolution, residual block.
  const module = (stage: number, place: number): string => `decoder.model.${2 + 3 * stage + place}`
  const upsampling = (stage: number): string => `${module(stage, 0)}.convtr.weight`
  const hasStage = (stage: number): boolean =>
    checkpoint.has(upsampling(stage)) || checkpoint.has(`${module(stage, 1)}.block.1.conv.weight`)
  do ratios.push(halfKernel(checkpoint, upsampling(ratios.length)))
  while (hasStage(ratios.length))
  return ratios
}

/** Every resampling convolution has a kernel of twice its ratio. */
const halfKernel = (checkpoint: Checkpoint, name: string): number => {
  const kernel = sizeAt(checkpoint, name, 2)
  if (kernel % 2 === 0) return kernel / 2
  throw new MimiError('wrong-shape', `${name} has a kernel of ${kernel}, expected 2 × a whole ratio`)
}

const sizeAt = (checkpoint: Checkpoint, name: string, axis: number): number => {
  const shape = checkpoint.shape(name, 3)
  const size = shape[axis] ?? 0
  if (size > 0) return size
  throw new MimiError('wrong-shape', `${name} is [${shape.join(', ')}]: no size may be 0`)
}

const openSettings = (stated: Partial<MimiConfig>): typeof notInShapes => {
  const setting = (
    key: keyof typeof notInShapes,
    sound: (value: number) => boolean,
    expected: string,
  ): number => {
    const value = stated[key] ?? notInShapes[key]
    if (sound(value)) return value
    throw new MimiError('invalid-config', `${key} is ${value}, expected ${expected}`)
  }
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value > 0
  return {
    sampleRate: setting('sampleRate', isCount, 'samples per second'),
    heads: setting('heads', isCount, 'a number of heads'),
    context: setting(
      'context',
      (value) => isCount(value) && value <= largestContext,
      `1 to ${largestContext} positions`,
    ),
    maxPeriod: setting('maxPeriod', (value) => Number.isFinite(value) && value > 0, 'a positive number'),
  }
}

const checkAgreement = (config: MimiConfig, stated: Partial<MimiConfig>): void => {
  for (const [key, value] of Object.entries(stated)) {
    if (value === undefined) continue
    if (!Object.hasOwn(config, key)) {
      throw new MimiError('invalid-config', `there is no setting ${key}; there are ${Object.keys(config)}`)
    }
    const found = config[key as keyof MimiConfig]
    // As text, so that lists of ratios compare by their values.
    if (String(found) !== String(value)) {
      throw new MimiError(
        'contradiction',
        `the configuration says ${key} ${value}, the tensors say ${found}: one belongs to another model`,
      )
    }
  }
}

/** The rotary embedding turns pairs of values, so a head must be of even width. */
const checkHeads = ({ dModel, heads }: MimiConfig): void => {
  if (dModel % (2 * heads) === 0) return
  throw new MimiError(
    'contradiction',
    `${heads} heads do not share the transformer's width of ${dModel} in even parts; state another number of heads`,
  )
}
