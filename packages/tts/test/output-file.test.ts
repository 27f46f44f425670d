import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { mini } from '@pocket/mini'
import { encodeWav, PocketTts } from '@pocket/tts'
import { writeWavFile } from '@pocket/tts/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endOf, startModule } from './support/child.ts'
import { refusal } from './support/errors.ts'
import { framesOf } from './support/frames.ts'
import { fastest } from './support/levels.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wav-'))
})
afterEach(() => rm(folder, { recursive: true }))

const inFolder = (name: string): string => join(folder, name)

/** All samples of `framesOf(count)`. */
const samplesOf = (count: number): Float32Array =>
  Float32Array.from({ length: 4 * count }, (_, i) => (Math.floor(i / 4) + 1) / 100)

describe('a WAV file', () => {
  test('is, byte for byte, that of the samples together', async () => {
    for (const [name, count] of Object.entries({ none: 0, one: 1, many: 500 })) {
      const path = inFolder(`${name}.wav`)
      const { samples, seconds } = await writeWavFile(path, framesOf(count).frames)
      expect([samples, seconds]).toEqual([4 * count, (4 * count) / 24000])
      expect(new Uint8Array(await readFile(path))).toEqual(encodeWav(samplesOf(count)))
    }
    expect((await readdir(folder)).sort()).toEqual(['many.wav', 'none.wav', 'one.wav'])
  })

  test('holds speech as it is streamed', async () => {
    const tts = await PocketTts.load(mini, { simd: fastest })
    const path = inFolder('speech.wav')
    await writeWavFile(pathToFileURL(path), tts.stream('Hello from my pocket.'))
    expect(new Uint8Array(await readFile(path))).toEqual(
      encodeWav(await tts.generate('Hello from my pocket.')),
    )
    tts.dispose()
  })

  test('states its sample rate', async () => {
    await writeWavFile(inFolder('x.wav'), framesOf(3).frames, { sampleRate: 48000 })
    expect(new Uint8Array(await readFile(inFolder('x.wav')))).toEqual(encodeWav(samplesOf(3), 48000))
  })

  test('takes the place of an older one only when it is whole', async () => {
    const path = inFolder('x.wav')
    await writeFile(path, 'precious')
    async function* checked() {
      for await (const frame of framesOf(3).frames) {
        expect(String(await readFile(path))).toBe('precious')
        yield frame
      }
    }
    await writeWavFile(path, checked())
    expect(new Uint8Array(await readFile(path))).toEqual(encodeWav(samplesOf(3)))
  })

  test('is written through a link', async () => {
    await writeFile(inFolder('real.wav'), 'precious')
    await symlink('real.wav', inFolder('link.wav'))
    await writeWavFile(inFolder('link.wav'), framesOf(3).frames)
    expect(new Uint8Array(await readFile(inFolder('real.wav')))).toEqual(encodeWav(samplesOf(3)))
    expect((await readdir(folder)).sort()).toEqual(['link.wav', 'real.wav'])
  })

  test('may have the longest name there is', async () => {
    const name = `${'x'.repeat(251)}.wav`
    await writeWavFile(inFolder(name), framesOf(1).frames)
    expect(await readdir(folder)).toEqual([name])
  })
})

describe('nothing is left', () => {
  test('of speech that fails or is aborted, and the older file stays', async () => {
    await writeFile(inFolder('old.wav'), 'precious')
    const failure = new Error('no more')
    async function* failing() {
      yield* framesOf(10).frames
      throw failure
    }
    for (const name of ['old.wav', 'new.wav']) {
      await expect(writeWavFile(inFolder(name), failing())).rejects.toBe(failure)
    }
    const tts = await PocketTts.load(mini, { simd: fastest })
    const controller = new AbortController()
    const frames = tts.stream('Hello from my pocket.', {
      signal: controller.signal,
      onProgress: (progress) => progress.frames === 5 && controller.abort('enough'),
    })
    await expect(writeWavFile(inFolder('old.wav'), frames)).rejects.toBe('enough')
    tts.dispose()
    expect(await readdir(folder)).toEqual(['old.wav'])
    expect(String(await readFile(inFolder('old.wav')))).toBe('precious')
  })

  test('of more samples than a WAV file can say, and what makes them is stopped', async () => {
    let left = false
    async function* endless() {
      try {
        yield* framesOf(2).frames
        // Only its length is looked at: 4 GiB less the header are 2147483629 samples, of which 8 are written.
        yield { pcm: { length: 2_147_483_622 } as Float32Array }
      } finally {
        left = true
      }
    }
    await refusal(writeWavFile(inFolder('x.wav'), endless()), 'invalid-audio', '4 GiB', '2147483629')
    expect(left).toBe(true)
    expect(await readdir(folder)).toEqual([])
  })

  test.each([
    ['abort', `process.once('SIGTERM', () => stop.abort(new Error('stopped')))`, 0, null],
    ['process.exit', `process.once('SIGTERM', () => process.exit(9))`, 9, null],
    ['nothing', '', null, 'SIGTERM'],
  ] as const)('of a process that answers SIGTERM with %s', async (answer, handler, code, signal) => {
    const path = inFolder('x.wav')
    await writeFile(path, 'precious')
    const child = startModule(
      `
      import { mini } from '@pocket/mini'
      import { loadInWorker } from '@pocket/tts'
      import { writeWavFile } from '@pocket/tts/node'
      const stop = new AbortController()
      ${handler}
      const engine = await loadInWorker(mini)
      const speech = engine.stream('Hello there. '.repeat(1000), { signal: stop.signal })
      async function* told() {
        for await (const frame of speech) {
          if (frame.index === 3) console.log('speaking')
          yield frame
        }
      }
      await writeWavFile(process.argv.at(-1), told()).catch((error) => console.log(error.message))
      `,
      path,
    )
    const end = endOf(child)
    await once(child.stdout!, 'data')
    child.kill('SIGTERM')
    expect(await end).toMatchObject({ code, signal })
    expect(String(await readFile(path))).toBe('precious')
    const others = (await readdir(folder)).filter((name) => name !== 'x.wav')
    // Nothing can clear up after a process that is ended by a signal nobody handles.
    expect(others).toEqual(answer === 'nothing' ? [expect.stringMatching(/^\.pocket-[-\da-f]+\.part$/)] : [])
  })
})

describe('what cannot be written is refused before any speech is made', () => {
  const refused = async (path: string, ...words: (string | RegExp)[]): Promise<void> => {
    const { frames, seen } = framesOf(3)
    await refusal(writeWavFile(path, frames), 'write-failed', path, ...words)
    expect(seen.made).toBe(0)
  }

  test('a folder, a device, a place that is not there', async () => {
    await mkdir(inFolder('folder'))
    await refused(inFolder('folder'), 'it is a folder')
    await refused(devNull, 'no regular file')
    await refused(join(folder, 'nowhere', 'x.wav'), `there is no folder ${join(folder, 'nowhere')}`)
    await writeFile(inFolder('file'), '')
    await refused(join(folder, 'file', 'x.wav'), 'there is no folder')
    expect((await readdir(folder)).sort()).toEqual(['file', 'folder'])
  })

  test('a sample rate that is none', async () => {
    const { frames, seen } = framesOf(3)
    await refusal(
      writeWavFile(inFolder('x.wav'), frames, { sampleRate: 0.5 }),
      'invalid-option',
      'sampleRate',
    )
    expect(seen.made).toBe(0)
  })
})
