import type { LoadProgress } from '@pocket/tts'
import { elements } from './elements.ts'
import type { LoadedEngine } from './engine.ts'
import type { SpeechMetrics } from './speech-metrics.ts'

/** Read aloud by screen readers: only what somebody waits for. */
export const showStatus = (text: string): void => {
  elements.status.textContent = text
}

export const showError = (error: unknown): void => {
  elements.error.textContent = error instanceof Error ? error.message : String(error)
  elements.error.hidden = false
}

export const clearError = (): void => {
  elements.error.hidden = true
  elements.error.textContent = ''
}

/** Bytes of one file after the other; without a total the bar only says that something is going on. */
export const showLoading = ({ loadedBytes, totalBytes }: LoadProgress): void => {
  const { progress } = elements
  if (totalBytes) progress.value = loadedBytes / totalBytes
  else progress.removeAttribute('value')
}

const levels = { relaxed: 'relaxed SIMD', simd: 'SIMD', scalar: 'no SIMD' }

/** Fills in what is known once the model is there, and lets the user begin. */
export const showEngine = ({ engine, simd }: LoadedEngine): void => {
  const { defaultVoice } = engine
  const option = (name: string) => new Option(name, name, name === defaultVoice, name === defaultVoice)
  elements.voice.replaceChildren(...engine.voices().map(option))
  elements.temperature.value = String(engine.config.defaultTemperature)
  showTemperature()
  elements.backend.textContent = describeBackend(engine, simd)
  elements.isolated.textContent = crossOriginIsolated ? 'yes' : 'no, and no need to be'
  elements.progress.hidden = true
  elements.speak.disabled = false
}

const describeBackend = (
  { backend, threads }: LoadedEngine['engine'],
  simd: LoadedEngine['simd'],
): string => {
  const gpu = `WebGPU (${backend.adapter})`
  if (backend.name === 'gpu') return gpu
  const kernels = simd === 'scalar' ? 'plain JavaScript' : 'WebAssembly'
  const cpu = `${kernels}, ${levels[simd]}, ${threads}\u00a0thread${threads === 1 ? '' : 's'}`
  return backend.name === 'hybrid' ? `${cpu}; the codec on ${gpu}` : cpu
}

export const showTemperature = (): void => {
  elements.temperatureValue.textContent = elements.temperature.value
}

export const showMetrics = ({ frameMs, realTimeFactor, firstAudioMs, underruns }: SpeechMetrics): void => {
  elements.frameTime.textContent = milliseconds(frameMs)
  elements.realTimeFactor.textContent =
    realTimeFactor === undefined
      ? '–'
      : `${realTimeFactor.toFixed(2)} (${(1 / realTimeFactor).toFixed(1)} × real time)`
  elements.firstAudio.textContent = milliseconds(firstAudioMs)
  elements.underruns.textContent = String(underruns)
}

/** While somebody is speaking, Stop is there; the focus never falls off a button that goes. */
export const showSpeaking = (isSpeaking: boolean): void => {
  const { stop, speak } = elements
  const hadFocus = document.activeElement === stop
  stop.disabled = !isSpeaking
  if (!isSpeaking && hadFocus) speak.focus()
}

const milliseconds = (value: number | undefined): string =>
  value === undefined ? '–' : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
