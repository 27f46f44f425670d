import {
  clearError,
  showEngine,
  showError,
  showLoading,
  showLoadingBegins,
  showLoadingEnds,
  showModel,
  showReady,
  showStatus,
} from './display.ts'
import { elements } from './elements.ts'
import type { Engines } from './engine.ts'
import { openEngineForm, readEngineSettings, showEngineSettings } from './engine-form.ts'
import { type EngineSettings, type Settings, usualEngine, withEngine } from './settings.ts'

/** Loads what the address asks for, or the usual where that cannot be had here. Throws where nothing can be loaded. */
export const loadFirst = async (engines: Engines, { engine: wanted, ignored }: Settings): Promise<void> => {
  openEngineForm(() => void change(engines))
  elements.cancel.addEventListener('click', () => engines.cancel())
  showEngineSettings(wanted)
  showLoadingBegins(false)
  const notes = [...ignored]
  try {
    const loaded = await engines.change(wanted, showLoading).catch((error: unknown) => {
      const words = wordsFor(error)
      if (words === undefined) throw error
      notes.push(`${words} The usual settings are used in their place.`)
      return engines.change(usualEngine, showLoading)
    })
    showModel(loaded)
    showEngine(loaded)
    showEngineSettings(loaded.settings)
    showReady()
    if (notes.length > 0) showError(notes.join(' '))
  } finally {
    showLoadingEnds()
  }
}

/** Somebody has chosen: the address follows when it is loaded, and the selectors go back where it cannot be. */
const change = async (engines: Engines): Promise<void> => {
  const before = engines.current?.settings ?? usualEngine
  const wanted = readEngineSettings(before)
  clearError()
  showEngineSettings(wanted)
  showLoadingBegins(true)
  showStatus('Loading the model again.')
  try {
    const loaded = await engines.change(wanted, showLoading)
    showEngine(loaded)
    remember(loaded.settings)
    showReady()
  } catch (error) {
    // A later choice is being loaded, and will tell what comes of it.
    if (engines.isLoading) return
    showEngineSettings(before)
    showReady()
    if (isAbort(error)) showStatus('Cancelled. Nothing has changed.')
    else showError(`${wordsFor(error) ?? sentence(error)} Nothing has changed.`)
  } finally {
    if (!engines.isLoading) showLoadingEnds()
  }
}

const remember = (settings: EngineSettings): void => {
  const { pathname, search, hash } = location
  history.replaceState(null, '', pathname + withEngine(search, settings) + hash)
}

const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

/** Codes of errors that other settings mend, and what to do. */
const advice: Readonly<Record<string, (reason: string) => string>> = {
  'gpu-unavailable': (reason) => `No GPU can be used here: ${reason} Choose Automatic or CPU as backend.`,
  'gpu-refused': (reason) => `The GPU is not used: ${reason} Choose Automatic or CPU as backend.`,
  'invalid-option': (reason) => `These settings do not go together: ${reason}`,
  // Of the kernels: a level or a number of threads that this browser lacks, or a level that computes wrongly.
  unavailable: (reason) => `This browser has not what was asked for: ${reason}`,
  'self-test': (reason) => `The kernels cannot be trusted here: ${reason}`,
}

/** Undefined for what no other settings would mend. */
const wordsFor = (error: unknown): string | undefined => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return Object.hasOwn(advice, code) ? advice[code]?.(sentence(error)) : undefined
}

const sentence = (error: unknown): string => `${error instanceof Error ? error.message : String(error)}.`
