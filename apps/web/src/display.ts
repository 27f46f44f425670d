import type { LoadProgress } from '@pocket/tts'
import { elements } from './elements.ts'
import type { LoadedEngine } from './engine.ts'
import { describeBackend, describeGpu, describePrecision } from './engine-facts.ts'
import type { SpeechMetrics } from './speech-metrics.ts'

/** Read aloud by screen readers: only what somebody waits for. */
export const showStatus = (text: string): void => {
  elements.status.textContent = text
}

/** What the user may do now, when something else was being waited for. */
export const showReady = (): void => showStatus(elements.stop.disabled ? 'Ready.' : 'Speaking.')

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

/** A bar from now on; `canCancel` where there is something to go back to. */
export const showLoadingBegins = (canCancel: boolean): void => {
  elements.progress.removeAttribute('value')
  elements.loading.hidden = false
  elements.cancel.hidden = !canCancel
}

/** The focus never falls off a button that goes. */
export const showLoadingEnds = (): void => {
  if (document.activeElement === elements.cancel) elements.chooseBackend.focus()
  elements.loading.hidden = true
}

/** Fills in what the model has, once it is there, and lets the user begin. */
export const showModel = ({ engine }: LoadedEngine): void => {
  const { defaultVoice } = engine
  const option = (name: string) => new Option(name, name, name === defaultVoice, name === defaultVoice)
  elements.voice.replaceChildren(...engine.voices().map(option))
  elements.temperature.value = String(engine.config.defaultTemperature)
  showTemperature()
  elements.speak.disabled = false
  elements.choices.disabled = false
}

/** Says what computes from now on. How fast it is shows when it speaks. */
export const showEngine = ({ engine, settings }: LoadedEngine): void => {
  elements.backend.textContent = describeBackend(engine)
  elements.gpu.textContent = describeGpu(engine.backend)
  elements.precision.textContent = describePrecision(settings)
  elements.isolated.textContent = crossOriginIsolated ? 'yes' : 'no, and no need to be'
  for (const fact of [elements.frameTime, elements.realTimeFactor, elements.firstAudio])
    fact.textContent = '–'
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
