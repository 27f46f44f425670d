/**
 * What tells one speaker from another, whatever is said, by two old and simple measures: the long-term average
 * spectrum in mel bands (vocal tract and manner) and the median pitch.
 */
export interface VoicePrint {
  /** Average power of loud frames in each band, in dB; 0 on average, so that loudness does not count. */
  readonly spectrum: readonly number[]
  /** Hz. */
  readonly pitch: number
}

/** @param pcm mono samples at 24 kHz, a few seconds of speech */
export const voicePrint = (pcm: Float32Array): VoicePrint => ({
  spectrum: averageSpectrum(pcm),
  pitch: medianPitch(pcm),
})

/** Mean difference over the bands, in dB. */
export const spectralDistance = (a: VoicePrint, b: VoicePrint): number =>
  mean(a.spectrum.map((level, band) => Math.abs(level - b.spectrum[band]!)))

/** In semitones. */
export const pitchDistance = (a: VoicePrint, b: VoicePrint): number =>
  12 * Math.abs(Math.log2(a.pitch / b.pitch))

const sampleRate = 24000
const frameLength = 512
const hop = 256
const bandCount = 24
const [lowest, highest] = [80, 8000]

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const averageSpectrum = (pcm: Float32Array): number[] => {
  const frames: number[][] = []
  for (let start = 0; start + frameLength <= pcm.length; start += hop) {
    frames.push(powerSpectrum(pcm.subarray(start, start + frameLength)))
  }
  const energies = frames.map((power) => power.reduce((sum, value) => sum + value, 0))
  const loud = frames.filter((_, i) => energies[i]! > 0.1 * mean(energies))
  const average = loud[0]!.map((_, bin) => mean(loud.map((power) => power[bin]!)))
  const levels = inBands(average).map((power) => 10 * Math.log10(power + 1e-12))
  return levels.map((level) => level - mean(levels))
}

const table = (wave: (angle: number) => number): Float64Array =>
  Float64Array.from({ length: frameLength }, (_, i) => wave((2 * Math.PI * i) / frameLength))
const [cosines, sines] = [table(Math.cos), table(Math.sin)]

/** Of a frame under a Hann window, by the definition of the Fourier transform: short enough for that. */
const powerSpectrum = (frame: Float32Array): number[] => {
  const windowed = Float64Array.from(frame, (sample, i) => sample * (0.5 - 0.5 * cosines[i]!))
  return Array.from({ length: frameLength / 2 }, (_, bin) => {
    let [real, imaginary] = [0, 0]
    for (let i = 0; i < frameLength; i++) {
      const angle = (bin * i) % frameLength
      real += windowed[i]! * cosines[angle]!
      imaginary += windowed[i]! * sines[angle]!
    }
    return real ** 2 + imaginary ** 2
  })
}

const toMel = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700)
const toHertz = (mel: number): number => 700 * (10 ** (mel / 2595) - 1)

/** Triangles, each from the middle of the band before it to the middle of the one behind it. */
const inBands = (power: readonly number[]): number[] => {
  const step = (toMel(highest) - toMel(lowest)) / (bandCount + 1)
  const edge = (i: number): number => toHertz(toMel(lowest) + i * step)
  return Array.from({ length: bandCount }, (_, band) => {
    const [from, middle, to] = [edge(band), edge(band + 1), edge(band + 2)]
    return power.reduce((sum, value, bin) => {
      const hertz = (bin * sampleRate) / frameLength
      const weight = Math.min((hertz - from) / (middle - from), (to - hertz) / (to - middle))
      return sum + Math.max(0, weight) * value
    }, 0)
  })
}

/** By autocorrelation over voiced windows of 40 ms, 60 to 300 Hz; the median in Hz. */
export const medianPitch = (pcm: Float32Array): number => {
  const window = 960
  const loud = 0.5 * loudness(pcm)
  const pitches: number[] = []
  for (let start = 0; start + 2 * window <= pcm.length; start += window) {
    if (loudness(pcm.subarray(start, start + window)) < loud) continue
    let best = 0
    let bestLag = 0
    for (let lag = 80; lag <= 400; lag++) {
      let product = 0
      let energy = 0
      for (let i = start; i < start + window; i++) {
        product += pcm[i]! * pcm[i + lag]!
        energy += pcm[i]! ** 2 + pcm[i + lag]! ** 2
      }
      if ((2 * product) / energy > best) {
        best = (2 * product) / energy
        bestLag = lag
      }
    }
    if (best > 0.7) pitches.push(sampleRate / bestLag)
  }
  return pitches.toSorted((a, b) => a - b)[Math.floor(pitches.length / 2)] ?? 0
}

/** The root mean square. */
export const loudness = (samples: Float32Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)
