import type { SpeechEngine } from '@pocket/tts'
import { clearError, showError, showMetrics, showSpeaking, showStatus, showTemperature } from './display.ts'
import { elements } from './elements.ts'
import { Engines } from './engine.ts'
import { loadFirst } from './loading.ts'
import { keepForOffline, startServiceWorker } from './offline.ts'
import { Player } from './playback/player.ts'
import { Recording } from './recording.ts'
import { readSettings } from './settings.ts'
import { speak } from './speech.ts'
import { Waveform } from './waveform.ts'

const settings = readSettings(location.search)

const engines = new Engines()
const waveform = new Waveform(elements.waveform)
let player: Promise<Player> | undefined
let recording: Recording | undefined
/** Stops what is being spoken. */
let running: AbortController | undefined

const options = () => ({
  text: elements.text.value,
  voice: elements.voice.value,
  seed: elements.seed.valueAsNumber,
  temperature: elements.temperature.valueAsNumber,
})

const describe = (samples: number, sampleRate: number): string =>
  `${(samples / sampleRate).toFixed(1)} seconds of speech`

/** One that could not be opened is not kept: the next attempt may find the network, or a loudspeaker. */
const openPlayer = (sampleRate: number): Promise<Player> => {
  const opening = Player.open(sampleRate, settings.prefill)
  opening.catch(() => {
    player = undefined
  })
  return opening
}

const say = async (tts: SpeechEngine, signal: AbortSignal) => {
  // Opened here, while the user acts: browsers let no page begin to sound by itself.
  player ??= openPlayer(tts.sampleRate)
  const current = new Recording(tts.sampleRate)
  recording = current
  waveform.clear()
  showStatus('Speaking.')
  try {
    await speak(
      tts,
      await player,
      { ...options(), signal },
      {
        onFrame(frame) {
          current.add(frame)
          waveform.add(frame.pcm)
        },
        onPlayed: (samples) => waveform.setPlayed(samples),
        onMetrics: showMetrics,
      },
    )
    showStatus(`Finished: ${describe(current.samples, tts.sampleRate)}.`)
  } finally {
    elements.download.hidden = current.samples === 0
    elements.waveform.ariaLabel = `Waveform of ${describe(current.samples, tts.sampleRate)}`
  }
}

const stop = () => running?.abort()

elements.form.addEventListener('submit', async (event) => {
  event.preventDefault()
  stop()
  const controller = new AbortController()
  running = controller
  clearError()
  elements.download.hidden = true
  showSpeaking(true)
  try {
    await engines.use((tts) => say(tts, controller.signal))
  } catch (error) {
    if (controller.signal.aborted) showStatus('Stopped.')
    else {
      showStatus('')
      showError(error)
    }
  } finally {
    if (running === controller) showSpeaking(false)
  }
})

elements.stop.addEventListener('click', stop)
elements.download.addEventListener('click', () => recording?.save())
elements.temperature.addEventListener('input', showTemperature)
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') stop()
})

try {
  showStatus('Loading the model.')
  await startServiceWorker()
  await loadFirst(engines, settings)
  elements.offline.textContent = await keepForOffline()
} catch (error) {
  showStatus('The model could not be loaded. Reload the page to try again.')
  showError(error)
}
