import { PocketTtsError } from '../errors.ts'
import { checkOwner, checkPath, checkRepository, checkRevision, type Fail } from './location-rules.ts'

/** A file of a model repository on the hub, or a folder of it. */
export interface HubLocation {
  readonly owner: string
  readonly repo: string
  /** Names joined by `/`; empty for the repository itself. */
  readonly path: string
  /** A branch, a tag, or the 40 hexadecimal digits of a commit. */
  readonly revision: string
}

const scheme = 'hf://'
const usualRevision = 'main'

export const isHubText = (text: string): boolean => text.startsWith(scheme)

/** A commit never changes what it names; a branch or tag may. */
export const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision)

/**
 * Parses `hf://owner/repo/path@revision`, as config files of the reference write it. Without a revision it is `main`;
 * without a path it is the repository. Nothing is decoded or normalised: what is not plainly a path inside the
 * repository is refused. Throws PocketTtsError `invalid-option`.
 */
export const parseHubLocation = (text: string): HubLocation => {
  const fail = failFor(text)
  if (!isHubText(text)) throw fail('it does not begin with hf://')
  const [place = '', revision = usualRevision, ...more] = text.slice(scheme.length).split('@')
  if (more.length > 0) throw fail("it has more than one '@'")
  // One slash at the end is how people write folders.
  const [owner = '', repo = '', ...names] = place.replace(/\/$/, '').split('/')
  return checkHubLocation({ owner, repo, path: names.join('/'), revision }, fail)
}

/** Throws what `fail` makes unless every part is sound, which makes the path safe on every file system. */
export const checkHubLocation = (location: HubLocation, fail: Fail): HubLocation => {
  checkOwner(location.owner, fail)
  checkRepository(location.repo, fail)
  checkPath(location.path, fail)
  checkRevision(location.revision, fail)
  return location
}

/** The text that `parseHubLocation` reads. */
export const formatHubLocation = ({ owner, repo, path, revision }: HubLocation): string =>
  `${scheme}${[owner, repo, ...(path ? [path] : [])].join('/')}@${revision}`

/** The folder that a file lies in. */
export const folderOf = (file: HubLocation): HubLocation => ({
  ...file,
  path: file.path.split('/').slice(0, -1).join('/'),
})

/**
 * A path relative to a folder of a repository, in the same revision. `..` may climb, but not out of the repository.
 * Throws PocketTtsError `invalid-option`.
 */
export const resolveHubPath = (folder: HubLocation, relative: string): HubLocation => {
  const fail = failFor(`'${relative}' in ${formatHubLocation(folder)}`)
  const names = folder.path ? folder.path.split('/') : []
  for (const name of relative.split('/')) {
    if (name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined) throw fail('it leads out of the repository')
  }
  return checkHubLocation({ ...folder, path: names.join('/') }, fail)
}

export const failFor =
  (text: string): Fail =>
  (problem) =>
    new PocketTtsError(
      'invalid-option',
      `${quoted(text)}: ${problem}; expected hf://owner/repo/path@revision`,
    )

const longestQuote = 120

const quoted = (text: string): string => {
  // Control characters would hide in a terminal what is wrong.
  const shown = JSON.stringify(text.slice(0, longestQuote)).slice(1, -1)
  return text.length > longestQuote ? `${shown}…` : shown
}
