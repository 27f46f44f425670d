import { PocketTtsError } from '../errors.ts'
import {
  checkHubLocation,
  failFor,
  formatHubLocation,
  type HubLocation,
  parseHubLocation,
} from './location.ts'

/** A place that names a file. Throws PocketTtsError `invalid-option`. */
export const requireFile = (place: string | HubLocation): HubLocation => {
  const text = typeof place === 'string' ? place : formatHubLocation(place)
  const location =
    typeof place === 'string' ? parseHubLocation(place) : checkHubLocation(place, failFor(text))
  if (location.path === '') throw failFor(text)('it names a repository, not a file in it')
  return location
}

export const notCached = (location: HubLocation, cache: string): PocketTtsError =>
  new PocketTtsError(
    'offline',
    `${formatHubLocation(location)} is not in the cache (${cache}), and downloads are switched off; ` +
      'fetch it once without HF_HUB_OFFLINE',
  )
