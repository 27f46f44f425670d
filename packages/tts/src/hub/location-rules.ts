/** Makes the error for a problem with a location. */
export type Fail = (problem: string) => Error

/** The hub's own limit for `owner/repo`, and a bound on everything that becomes a path or a URL. */
const longestName = 96
const longestPath = 1024
const longestRevision = 255

/** `hf://datasets/…` and the like are repositories of another kind, which no model lives in. */
const otherKinds: ReadonlySet<string> = new Set(['datasets', 'spaces', 'models', 'buckets'])

export const checkOwner = (owner: string, fail: Fail): void => {
  if (otherKinds.has(owner)) throw fail(`'${owner}' is no owner; only model repositories can be read`)
  checkName('owner', owner, fail)
}

export const checkRepository = (repo: string, fail: Fail): void => checkName('repository', repo, fail)

/** The hub's rules; `--` separates owner and repository in the cache, so that neither may hold it. */
const checkName = (what: string, name: string, fail: Fail): void => {
  if (name === '') throw fail(`the ${what} is missing`)
  if (name.length > longestName) throw fail(`the ${what} is longer than ${longestName} characters`)
  if (!/^[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?$/.test(name)) {
    throw fail(`the ${what} may hold letters, digits, '_', and between those '-' and '.'`)
  }
  if (/--|\.\./.test(name)) throw fail(`the ${what} may not hold '--' or '..'`)
}

/** Every name must be the name of one plain file on every system: what Windows reads otherwise is refused too. */
export const checkPath = (path: string, fail: Fail): void => {
  if (path === '') return
  if (path.length > longestPath) throw fail(`the path is longer than ${longestPath} characters`)
  for (const name of path.split('/')) {
    if (name === '') throw fail('the path has an empty name')
    if (name === '.' || name === '..') throw fail(`the path holds '${name}'`)
    // Control characters, what Windows forbids (`:` opens streams), and what URLs or this format read otherwise.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
    const odd = /[\u0000-\u001f\u007f<>:"|?*\\%#@]/.exec(name)?.[0]
    if (odd !== undefined) throw fail(`the path holds ${JSON.stringify(odd)}`)
    if (/[. ]$|^ /.test(name))
      throw fail(`the name '${name}' begins or ends with a space, or ends with a dot`)
    if (/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name)) throw fail(`'${name}' is a device on Windows`)
    if (/\p{Surrogate}/u.test(name)) throw fail('the path holds half of a surrogate pair')
  }
}

/** What git allows, less what is not needed: `main`, `v1.0`, `refs/pr/3`, a commit. */
export const checkRevision = (revision: string, fail: Fail): void => {
  if (revision === '') throw fail("there is no revision after '@'")
  if (revision.length > longestRevision)
    throw fail(`the revision is longer than ${longestRevision} characters`)
  if (!/^[\w.+-]+(?:\/[\w.+-]+)*$/.test(revision) || /(^|\/)[.-]|\.\.|\.(\/|$)|\.lock(\/|$)/.test(revision)) {
    throw fail(`'${revision}' is no branch, tag or commit`)
  }
}
