/** Distances between sounds as ears have them: log mel spectra, aligned in time. */

/** 24 kHz: windows of 43 ms every 13 ms. */
const windowLength = 1024
const hop = 320
const bands = 40
const sampleRate = 24000

/** What is fainter than this, 80 dB below full scale, does not count. */
const floor = 1e-8

/** Log mel spectra in dB, one a hop: `[time][bands]`. Sound shorter than a window has none. */
export const melSpectra = (pcm: Float32Array): Float64Array[] => {
  const spectra: Float64Array[] = []
  for (let begin = 0; begin + windowLength <= pcm.length; begin += hop) {
    const power = powerSpectrum(pcm.subarray(begin, begin + windowLength))
    const energies = filters.map(({ first, weights }) =>
      weights.reduce((sum, weight, i) => sum + weight * (power[first + i] ?? 0), 0),
    )
    spectra.push(Float64Array.from(energies, (energy) => 10 * Math.log10(Math.max(energy, floor))))
  }
  return spectra
}

const spectrumLength = windowLength / 2 + 1

/** Of a window under a Hann curve; a full-scale sine has power 1/4 at its bin. */
const powerSpectrum = (samples: Float32Array): Float64Array => {
  const real = Float64Array.from(samples, (sample, i) => sample * (hann[i] ?? 0))
  const imaginary = new Float64Array(windowLength)
  fourier(real, imaginary)
  const scale = 2 / windowLength
  return Float64Array.from(
    { length: spectrumLength },
    (_, bin) => ((real[bin] ?? 0) * scale) ** 2 + ((imaginary[bin] ?? 0) * scale) ** 2,
  )
}

const hann = Float64Array.from(
  { length: windowLength },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / windowLength),
)

/** In place, radix 2: the halves of even and odd index first. */
const fourier = (real: Float64Array, imaginary: Float64Array): void => {
  const n = real.length
  if (n === 1) return
  const part = (values: Float64Array, odd: number): Float64Array =>
    Float64Array.from({ length: n / 2 }, (_, i) => values[2 * i + odd] ?? 0)
  const [evenReal, evenImaginary] = [part(real, 0), part(imaginary, 0)]
  const [oddReal, oddImaginary] = [part(real, 1), part(imaginary, 1)]
  fourier(evenReal, evenImaginary)
  fourier(oddReal, oddImaginary)
  for (let k = 0; k < n / 2; k++) {
    const [cosine, sine] = [Math.cos((2 * Math.PI * k) / n), -Math.sin((2 * Math.PI * k) / n)]
    const [a, b] = [evenReal[k] ?? 0, evenImaginary[k] ?? 0]
    const [c, d] = [oddReal[k] ?? 0, oddImaginary[k] ?? 0]
    const [x, y] = [cosine * c - sine * d, cosine * d + sine * c]
    real[k] = a + x
    imaginary[k] = b + y
    real[k + n / 2] = a - x
    imaginary[k + n / 2] = b - y
  }
}

const toMel = (hertz: number): number => 1127 * Math.log1p(hertz / 700)

interface Filter {
  /** The first bin that it hears. */
  readonly first: number
  readonly weights: Float64Array
}

/** Triangles over the spectrum's bins, evenly spaced in mel from 60 Hz to 8 kHz, each of area one. */
const filters: readonly Filter[] = (() => {
  const [low, high] = [toMel(60), toMel(8000)]
  const step = (high - low) / (bands + 1)
  return Array.from({ length: bands }, (_, band) => {
    const center = low + (band + 1) * step
    const triangle = Float64Array.from({ length: spectrumLength }, (_, bin) =>
      Math.max(0, 1 - Math.abs(toMel((bin * sampleRate) / windowLength) - center) / step),
    )
    const area = triangle.reduce((sum, weight) => sum + weight, 0)
    const first = triangle.findIndex((weight) => weight > 0)
    const end = triangle.findLastIndex((weight) => weight > 0) + 1
    return { first, weights: triangle.subarray(first, end).map((weight) => weight / area) }
  })
})()

/**
 * Mean distance in dB (root mean square over the bands) along the best alignment of two sequences of spectra, each step
 * of which goes on in one of them or in both: speech that is the same at another pace is near.
 */
export const alignedDistance = (a: readonly Float64Array[], b: readonly Float64Array[]): number => {
  if (a.length === 0 || b.length === 0) throw new Error('a sound is shorter than one window')
  let previous: Path[] = []
  for (const spectrum of a) {
    const row: Path[] = []
    for (const [j, other] of b.entries()) {
      const before = [previous[j - 1], previous[j], row[j - 1]].filter((path) => path !== undefined)
      const best = before.reduce(
        (least, path) => (path.total < least.total ? path : least),
        before[0] ?? origin,
      )
      row.push({ total: best.total + distance(spectrum, other), steps: best.steps + 1 })
    }
    previous = row
  }
  const { total, steps } = previous.at(-1) ?? origin
  return total / steps
}

interface Path {
  readonly total: number
  readonly steps: number
}

const origin: Path = { total: 0, steps: 0 }

const distance = (a: Float64Array, b: Float64Array): number =>
  Math.sqrt(a.reduce((sum, value, band) => sum + (value - (b[band] ?? 0)) ** 2, 0) / bands)

/** How far what differs between two sounds lies below the first, in dB; undefined where their lengths differ. */
export const signalToDifference = (reference: Float32Array, other: Float32Array): number | undefined => {
  if (reference.length !== other.length) return undefined
  let signal = 0
  let difference = 0
  for (const [i, sample] of reference.entries()) {
    signal += sample ** 2
    difference += (sample - (other[i] ?? 0)) ** 2
  }
  return 10 * Math.log10(signal / difference)
}
