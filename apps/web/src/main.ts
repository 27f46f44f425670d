import {
  clearError,
  showEngine,
  showError,
  showLoading,
  showMetrics,
  showSpeaking,
  showStatus,
  showTemperature,
} from './display.ts'
import { elements } from './elements.ts'
import { loadEngine } from './engine.ts'
import { keepForOffline, startServiceWorker } from './offline.ts'
import { Player } from './playback/player.ts'
import { Recording } from './recording.ts'
import { readSettings } from './settings.ts'
import { speak } from './speech.ts'
import { Waveform } from './waveform.ts'

const settings = readSettings(location.search)

const load = async () => {
  showStatus('Loading the model.')
  await startServiceWorker()
  const loaded = await loadEngine(settings, showLoading)
  showEngine(loaded)
  showStatus('Ready.')
  return loaded.engine
}

const engine = load()
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

const say = async (signal: AbortSignal) => {
  const tts = await engine
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
    await say(controller.signal)
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
  await engine
  elements.offline.textContent = await keepForOffline()
} catch (error) {
  elements.progress.hidden = true
  showStatus('The model could not be loaded. Reload the page to try again.')
  showError(error)
}
