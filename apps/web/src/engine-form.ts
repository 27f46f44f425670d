import { loadChoices, loadCounts } from '@pocket/tts/options'
import { elements } from './elements.ts'
import { type Labelled, labels } from './labels.ts'
import { type EngineSettings, mostThreads, whyOneThread } from './settings.ts'

const selectors = {
  backend: elements.chooseBackend,
  precision: elements.choosePrecision,
  codecPrecision: elements.chooseCodecPrecision,
  threads: elements.chooseThreads,
}

const hints = {
  backend: elements.backendHint,
  precision: elements.precisionHint,
  codecPrecision: elements.codecPrecisionHint,
  threads: elements.threadsHint,
}

const namesOf = Object.keys(labels) as Labelled[]

/** Fills the selectors, and calls back when somebody chooses. */
export const openEngineForm = (onChange: () => void): void => {
  for (const name of namesOf) {
    selectors[name].replaceChildren(
      ...Object.entries(labels[name]).map(([value, label]) => new Option(label, value)),
    )
  }
  const counts = Array.from({ length: mostThreads() }, (_, index) => String(index + 1))
  selectors.threads.replaceChildren(
    new Option('Automatic', 'auto'),
    ...counts.map((count) => new Option(count)),
  )
  selectors.threads.disabled = !crossOriginIsolated
  for (const selector of Object.values(selectors)) selector.addEventListener('change', onChange)
}

/** Has the selectors show these settings, and what they mean. */
export const showEngineSettings = (settings: EngineSettings): void => {
  for (const name of namesOf) {
    selectors[name].value = settings[name]
    const meanings: Readonly<Record<string, string>> = loadChoices[name].values
    hints[name].textContent = meanings[settings[name]] ?? ''
  }
  selectors.threads.value = settings.threads?.toString() ?? 'auto'
  hints.threads.textContent = crossOriginIsolated ? loadCounts.threads.about : whyOneThread
}

/** What the selectors say; of the rest, what `settings` does. */
export const readEngineSettings = (settings: EngineSettings): EngineSettings => {
  const threads = selectors.threads.value
  return {
    ...settings,
    ...(Object.fromEntries(namesOf.map((name) => [name, selectors[name].value])) as Pick<
      EngineSettings,
      Labelled
    >),
    threads: threads === 'auto' ? undefined : Number(threads),
  }
}
