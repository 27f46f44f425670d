import { MimiError } from './errors.ts'

/** Samples must be a Float32Array of finite values; of any length. */
export const checkSamples = (pcm: Float32Array): void => checkFinite('pcm', pcm, 'sample')

/** Latents must be a Float32Array of finite values, whole frames of them, and `frames` of them where that is said. */
export const checkLatents = (latents: Float32Array, latentDim: number, frames: number | undefined): void => {
  checkFloat32('latents', latents)
  if (latents.length % latentDim !== 0) {
    throw new MimiError(
      'invalid-input',
      `latents has ${latents.length} values, expected a multiple of ${latentDim}: [frames, ${latentDim}], row-major`,
    )
  }
  if (frames !== undefined && latents.length !== frames * latentDim) {
    throw new MimiError(
      'invalid-input',
      `latents has ${latents.length / latentDim} frames of ${latentDim} values, expected ${frames}`,
    )
  }
  checkFinite('latents', latents, 'value')
}

const checkFloat32 = (name: string, values: unknown): void => {
  // By its tag, since an array of another realm (an iframe, a vm context) is no instance of this one's class.
  const type = Object.prototype.toString.call(values).slice('[object '.length, -1)
  if (type === 'Float32Array') return
  throw new MimiError('invalid-input', `${name} is of type ${type}, expected a Float32Array`)
}

/** One value that is not finite would stay in the stream's state and spoil all that comes after it. */
const checkFinite = (name: string, values: Float32Array, element: string): void => {
  checkFloat32(name, values)
  const index = values.findIndex((value) => !Number.isFinite(value))
  if (index < 0) return
  throw new MimiError(
    'invalid-input',
    `${element} ${index} of ${name} is ${values[index]}, expected finite values`,
  )
}
