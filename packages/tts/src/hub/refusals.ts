import { PocketTtsError } from '../errors.ts'
import { isSecure, repositoryPage } from './hub-url.ts'
import { formatHubLocation, type HubLocation } from './location.ts'
import { parseRetryAfter, TransientFailure } from './retry.ts'
import type { HubSettings } from './settings.ts'

/**
 * The error for an answer that is no success: `access-denied`, `not-found`, `download-failed`, or a TransientFailure
 * where it is worth another try.
 */
export const refusalOf = (
  { status, headers }: Response,
  location: HubLocation,
  settings: Pick<HubSettings, 'endpoint' | 'token'>,
): Error => {
  const place = formatHubLocation(location)
  if (status === 401 || status === 403) return accessDenied(status, location, settings)
  if (status === 404 || status === 410) return notFound(place, headers.get('x-error-code'))
  const message = `${place}: ${new URL(settings.endpoint).host} answered ${status}`
  if (status === 408 || status === 429 || status >= 500) {
    return new TransientFailure(message, {
      retryAfterMs: parseRetryAfter(headers.get('retry-after'), Date.now()),
    })
  }
  return new PocketTtsError('download-failed', message)
}

const accessDenied = (
  status: number,
  location: HubLocation,
  { endpoint, token }: Pick<HubSettings, 'endpoint' | 'token'>,
): PocketTtsError => {
  const advice = adviceFor(status, endpoint, token)
  return new PocketTtsError(
    'access-denied',
    `${formatHubLocation(location)} may not be read (${status}): the repository is gated, private or absent. ` +
      `Access is granted on ${repositoryPage(location)}: ${advice}`,
  )
}

const adviceFor = (status: number, endpoint: string, token: string | undefined): string => {
  if (token === undefined) return 'accept its terms there, then set HF_TOKEN to a token of your account'
  if (!isSecure(new URL(endpoint))) return `the token was not sent, since ${endpoint} is not encrypted`
  // The hub answers so to an expired token even where none is needed.
  if (status === 401) return 'the token is not accepted; renew it, or send none'
  return 'accept its terms there with the account that the token belongs to'
}

/** The hub's own words for what exactly is missing. */
const missing: Readonly<Record<string, string>> = {
  RepoNotFound: 'there is no such repository',
  RevisionNotFound: 'the repository has no such revision',
  EntryNotFound: 'the revision has no such file',
}

const notFound = (place: string, code: string | null): PocketTtsError =>
  new PocketTtsError(
    'not-found',
    `${place}: ${missing[code ?? ''] ?? 'there is no such file, revision or repository'}`,
  )
