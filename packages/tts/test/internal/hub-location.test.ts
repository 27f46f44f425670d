import { posix, win32 } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PocketTtsError } from '../../src/errors.ts'
import { parseHttpUrl, parseRemotePlace, repositoryPage, resolveUrl } from '../../src/hub/hub-url.ts'
import {
  folderOf,
  formatHubLocation,
  type HubLocation,
  parseHubLocation,
  resolveHubPath,
} from '../../src/hub/location.ts'
import { requireFile } from '../../src/hub/places.ts'
import { splitRepository } from '../../src/hub/repositories.ts'

const invalid = expect.objectContaining({ name: 'PocketTtsError', code: 'invalid-option' })
const endpoint = 'https://huggingface.co'
const commit = '0123456789abcdef0123456789abcdef01234567'

const word = fc.stringMatching(/^[A-Za-z0-9]{1,8}$/)
const fileName = fc
  .stringMatching(/^[A-Za-z0-9_ éß漢+(),~'!-]{1,12}$/)
  .map((name) => `x${name.trim()}x.safetensors`)
const location: fc.Arbitrary<HubLocation> = fc
  .record({
    owner: word,
    repo: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('-')),
    path: fc.array(fileName, { maxLength: 4 }).map((names) => names.join('/')),
    revision: fc.oneof(
      fc.constant(commit),
      fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('/')),
    ),
  })
  .filter(({ owner }) => !['datasets', 'spaces', 'models', 'buckets'].includes(owner))

/** Text that is almost a place: pieces of places and of tricks. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'hf://',
        'https://',
        'huggingface.co',
        '/',
        '//',
        '@',
        '..',
        '.',
        '\\',
        '%2e%2e',
        '%2F',
        '%00',
      ),
      fc.constantFrom(
        '\0',
        '\n',
        '\t',
        ' ',
        ':',
        '#',
        '?',
        '*',
        '|',
        '%',
        'C:',
        'con',
        'nul.txt',
        '~',
        '\ud800',
        '--',
      ),
      fc.constantFrom(
        'owner',
        'repo',
        'resolve',
        'main',
        'model.safetensors',
        'user:pass@',
        '[::1]',
        '‮',
        '．．',
      ),
      fc.string({ maxLength: 6, unit: 'binary' }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))

const tryParse = (text: string): ReturnType<typeof parseRemotePlace> | undefined => {
  try {
    return parseRemotePlace(text, endpoint)
  } catch (error) {
    if (error instanceof PocketTtsError && error.code === 'invalid-option') return undefined
    throw error
  }
}

/** What every accepted place must be, on every system. */
const expectContained = (place: HubLocation): void => {
  const { owner, repo, path, revision } = place
  for (const system of [posix, win32]) {
    for (const relative of [path, revision, `models--${owner}--${repo}`]) {
      const joined = system.normalize(system.join(system.sep, 'root', ...relative.split('/')))
      expect(joined.startsWith(system.join(system.sep, 'root'))).toBe(true)
      expect(joined.split(system.sep).slice(2).join('/')).toBe(relative)
    }
  }
  const url = resolveUrl(place, endpoint)
  expect(new URL(url).href.startsWith(`${endpoint}/${owner}/${repo}/resolve/`)).toBe(true)
  expect(new URL(url)).toMatchObject({ origin: endpoint, username: '', search: '', hash: '' })
}

describe('laws', () => {
  it('what is formatted parses to the same', () => {
    fc.assert(
      fc.property(location, (place) => {
        expect(parseHubLocation(formatHubLocation(place))).toEqual(place)
      }),
    )
  })

  it('the URL of a file, read as a link, is the file', () => {
    fc.assert(
      fc.property(location, (place) => {
        fc.pre(place.path !== '')
        expect(parseRemotePlace(resolveUrl(place, endpoint), endpoint)).toEqual({
          kind: 'hub',
          location: place,
        })
      }),
    )
  })

  it('whatever the text, it is refused or stays where it belongs', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const tried of [text, `hf://${text}`, `hf://owner/repo/${text}`, `hf://owner/repo/a@${text}`]) {
          const place = tryParse(tried)
          if (place?.kind === 'hub') expectContained(place.location)
        }
        for (const tried of [
          `https://${text}`,
          `${endpoint}/${text}`,
          `${endpoint}/owner/repo/resolve/main/${text}`,
        ]) {
          const place = tryParse(tried)
          if (place?.kind === 'hub') expectContained(place.location)
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('a relative path leads somewhere in the same repository, or is refused', () => {
    fc.assert(
      fc.property(location, hostile, (folder, relative) => {
        try {
          const place = resolveHubPath(folder, relative)
          expectContained(place)
          expect({ ...place, path: '' }).toEqual({ ...folder, path: '' })
        } catch (error) {
          expect(error).toEqual(invalid)
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a place', () => {
  it.each([
    ['hf://o/r/a/b.yaml@v1.0', { owner: 'o', repo: 'r', path: 'a/b.yaml', revision: 'v1.0' }],
    ['hf://o/r/a.wav', { owner: 'o', repo: 'r', path: 'a.wav', revision: 'main' }],
    ['hf://o/r', { owner: 'o', repo: 'r', path: '', revision: 'main' }],
    ['hf://o/r/', { owner: 'o', repo: 'r', path: '', revision: 'main' }],
    ['hf://o/r/a/@v1', { owner: 'o', repo: 'r', path: 'a', revision: 'v1' }],
    ['hf://o/r@refs/pr/3', { owner: 'o', repo: 'r', path: '', revision: 'refs/pr/3' }],
    ['hf://o/r.x_y-z/my voice.wav', { owner: 'o', repo: 'r.x_y-z', path: 'my voice.wav', revision: 'main' }],
  ])('%s is understood', (text, expected) => {
    expect(parseHubLocation(text)).toEqual(expected)
  })

  it.each([
    ['hf:/o/r/a', 'does not begin with hf://'],
    ['hf://', 'the owner is missing'],
    ['hf://o', 'the repository is missing'],
    ['hf:///r/a', 'the owner is missing'],
    ['hf://o/r/a//', 'empty name'],
    ['hf://o/r//a', 'empty name'],
    ['hf://o/r/../../x', "holds '..'"],
    ['hf://o/r/a/./b', "holds '.'"],
    ['hf://o/../r', 'the repository may hold'],
    ['hf://o/r/a\\..\\b', 'holds "\\\\"'],
    ['hf://o/r/a\0b', 'holds "\\u0000"'],
    ['hf://o/r/%2e%2e/a', 'holds "%"'],
    ['hf://o/r/a:stream', 'holds ":"'],
    ['hf://o/r/a?x=1', 'holds "?"'],
    ['hf://o/r/a#b', 'holds "#"'],
    ['hf://o/r/a.', 'ends with a dot'],
    ['hf://o/r/a ', 'ends with a space'],
    ['hf://o/r/aux', 'a device on Windows'],
    ['hf://o/r/Com1.txt', 'a device on Windows'],
    ['hf://o/r/a\ud800', 'half of a surrogate pair'],
    ['hf://o--x/r/a', "may not hold '--'"],
    ['hf://-o/r/a', 'the owner may hold'],
    ['hf://datasets/o/r/a', 'only model repositories'],
    ['hf://o/r/a@', "no revision after '@'"],
    ['hf://o/r/a@b@c', "more than one '@'"],
    ['hf://o/r/a@../x', 'no branch, tag or commit'],
    ['hf://o/r/a@/etc', 'no branch, tag or commit'],
    ['hf://o/r/a@x.lock', 'no branch, tag or commit'],
    [`hf://o/r/${'a'.repeat(2000)}`, 'longer than 1024'],
    [`hf://${'o'.repeat(200)}/r/a`, 'longer than 96'],
  ])('%j is refused', (text, problem) => {
    expect(() => parseHubLocation(text)).toThrow(invalid)
    expect(() => parseHubLocation(text)).toThrow(problem)
    expect(() => parseHubLocation(text)).toThrow('expected hf://owner/repo/path@revision')
  })

  it('that is a repository is no file', () => {
    expect(() => requireFile('hf://o/r')).toThrow('it names a repository, not a file')
    expect(() => requireFile({ owner: 'o', repo: 'r', path: '../x', revision: 'main' })).toThrow(invalid)
    expect(requireFile('hf://o/r/a').path).toBe('a')
  })

  it('has a folder, and paths from there', () => {
    const folder = folderOf(parseHubLocation('hf://o/r/a/b/config.yaml@v1'))
    expect(formatHubLocation(folder)).toBe('hf://o/r/a/b@v1')
    expect(resolveHubPath(folder, 'model.safetensors').path).toBe('a/b/model.safetensors')
    expect(resolveHubPath(folder, '../../x').path).toBe('x')
    expect(() => resolveHubPath(folder, '../../../x')).toThrow('leads out of the repository')
    expect(() => resolveHubPath(folder, '/etc/passwd')).toThrow(invalid)
  })

  it('may be split into owner and repository', () => {
    expect(splitRepository('o/r')).toEqual({ owner: 'o', repo: 'r' })
    for (const text of ['o', 'o/r/x', '../x', 'o/..']) expect(() => splitRepository(text)).toThrow(invalid)
  })
})

describe('a link', () => {
  const hub = (path: string, revision = 'main') => ({
    kind: 'hub',
    location: { owner: 'o', repo: 'r', path, revision },
  })

  it.each([
    ['https://huggingface.co/o/r/resolve/v1/a/b.wav?download=true', hub('a/b.wav', 'v1')],
    ['https://huggingface.co/o/r/blob/main/a%20b.wav', hub('a b.wav')],
    ['https://hf.co/o/r/resolve/refs%2Fpr%2F1/a', hub('a', 'refs/pr/1')],
    ['https://huggingface.co/o/r', hub('')],
    ['https://huggingface.co/o/r/tree/main/folder/', hub('folder')],
  ])('%s is a place on the hub', (text, expected) => {
    expect(parseRemotePlace(text, 'https://mirror.example')).toEqual(expected)
  })

  it('of a mirror is one too, below its path', () => {
    expect(
      parseRemotePlace('https://mirror.example/hf/o/r/resolve/main/a', 'https://mirror.example/hf'),
    ).toEqual(hub('a'))
    const other = parseRemotePlace(
      'https://mirror.example/other/o/r/resolve/main/a',
      'https://mirror.example/hf',
    )
    expect(other.kind).toBe('url')
  })

  it.each([
    'https://example.com/a/b.wav?x=%20#y',
    'http://localhost:8080/model/',
    'https://huggingface.co.example/o/r/resolve/main/a',
  ])('%s is of another server', (text) => {
    expect(parseRemotePlace(text)).toMatchObject({ kind: 'url', url: new URL(text) })
  })

  it.each([
    'https://huggingface.co/',
    'https://huggingface.co/o/r/commits/main',
    'https://huggingface.co/datasets/o/r/resolve/main/a',
    'https://huggingface.co/o/r/resolve/main/a%2Fb',
    'https://huggingface.co/o/r/resolve/main/..%2Fb',
    'https://huggingface.co/o/r/resolve/main/%E0%A4%A',
    'https://huggingface.co/o/r/resolve/main/../a',
    'https://huggingface.co/o/r/resolve/main/%2E%2e/a',
    'https://huggingface.co/o/r/resolve/main/a%00',
    'https://huggingface.co/o/r/resolve/main/a%5Cb',
    'https://huggingface.co\\o\\r\\resolve\\main\\a',
    'https://hugging\tface.co/o/r',
    'https://huggingface.co@example.com/a',
    'https://user:pass@huggingface.co/o/r/resolve/main/a',
    'ftp://huggingface.co/o/r',
    'https:huggingface.co',
    'https://',
    'https:///a',
    '//huggingface.co/o/r',
    'https://[::1/a',
  ])('%j is refused', (text) => {
    expect(() => parseRemotePlace(text)).toThrow(invalid)
  })

  it('is a URL as it is written', () => {
    expect(parseHttpUrl('https://example.com/a.b/c..d/...e').pathname).toBe('/a.b/c..d/...e')
  })

  it('to where access is granted always leads to the hub', () => {
    expect(repositoryPage({ owner: 'kyutai', repo: 'pocket-tts' })).toBe(
      'https://huggingface.co/kyutai/pocket-tts',
    )
  })
})
