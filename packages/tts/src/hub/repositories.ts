import { failFor, type HubLocation } from './location.ts'
import { checkOwner, checkRepository } from './location-rules.ts'

/** `owner/repo` in two. Throws PocketTtsError `invalid-option`. */
export const splitRepository = (repository: string): Pick<HubLocation, 'owner' | 'repo'> => {
  const fail = failFor(repository)
  const [owner = '', repo = '', ...more] = repository.split('/')
  if (more.length > 0) throw fail("it has more than one '/'")
  checkOwner(owner, fail)
  checkRepository(repo, fail)
  return { owner, repo }
}
