import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256, slowly, token } from '@tooling/fixtures/hub'
import { beforeEach, describe, expect, it } from 'vitest'
import { french, useHub } from './hub.ts'
import { finished } from './pocket.ts'

const hub = useHub()
beforeEach(() => hub.publishFrench())

const download = (...more: string[]) => hub.pocket(['models', 'download', french.id, ...more])
const weightsBlob = (): string => hub.blobPath(sha256(french.weights))

describe('pocket models download', () => {
  it('fetches the weights that it may, the tokenizer and the usual voice, once', async () => {
    const first = await download()
    expect(first).toMatchObject({
      code: 0,
      stdout: [
        'weights without voice cloning: 2.4 MB',
        'tokenizer: 14.2 kB',
        'voice estelle: 312.2 kB',
        'french_24l is here, 2.8 MB. It speaks with:',
        '  pocket generate --language french_24l "Bonjour ! Cette voix naît sur votre propre machine, une trame après l’autre."',
        '',
      ].join('\n'),
    })
    expect(first.stderr).toMatch(
      /^pocket: warning: voices cannot be cloned: .*huggingface\.co\/kyutai\/pocket-tts: accept/,
    )
    const asked = hub.server.bodies().length
    const second = await download()
    expect(second.stdout).toMatch(/^weights without voice cloning: 2\.4 MB, already here\n/)
    expect(hub.server.bodies()).toHaveLength(asked)
  })

  it('fetches the whole weights with a token, and other voices', async () => {
    const run = await hub.pocket(['models', 'download', french.id, '--voices', 'alba,estelle'], {
      HF_TOKEN: token,
    })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout.split('\n').slice(0, 4)).toEqual([
      'weights: 2.4 MB',
      'tokenizer: 14.2 kB',
      'voice alba: 312.2 kB',
      'voice estelle: 312.2 kB',
    ])
  })

  it('says nothing with --quiet', async () => {
    expect(await download('--quiet')).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it.each([
    ['an unknown model', ['frensh_24l'], /no checkpoint 'frensh_24l'; did you mean french_24l\?/],
    ['a language of 24 layers only', ['french'], /its id is 'french_24l'/],
    [
      'an unknown voice',
      [french.id, '--voices', 'alba,estele'],
      /no predefined voice 'estele'; did you mean estelle\?/,
    ],
  ])('refuses %s before it asks the hub', async (_title, args, message) => {
    expect(await hub.pocket(['models', 'download', ...args])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    })
    expect(hub.server.seen).toEqual([])
  })

  it('fetches nothing offline', async () => {
    expect(await hub.pocket(['models', 'download', french.id], { HF_HUB_OFFLINE: '1' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('downloads are switched off'),
    })
    expect(hub.server.seen).toEqual([])
  })

  it('that Ctrl-C stops keeps what has come, and goes on from there', async () => {
    hub.server.always = slowly(20_000, 10)
    const child = hub.start(['models', 'download', french.id])
    const end = finished(child)
    while (!hub.blobs().some((name) => isLong(name))) await sleep(10)
    child.kill('SIGINT')
    expect(await end).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(
        /pocket: stopped; what has come is kept, and the next download goes on from there\n$/,
      ),
    })
    expect(hub.blobs().filter((name) => isLong(name))).toHaveLength(1)
    hub.server.always = undefined
    expect((await download()).code).toBe(0)
    const ranges = hub.server.bodies().flatMap(({ range }) => range ?? [])
    expect(ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d{4,}-$/)])
    expect(new Uint8Array(readFileSync(weightsBlob()))).toEqual(french.weights)
  })

  /** Whether a download under way has brought more than a piece. */
  const isLong = (name: string): boolean =>
    name.endsWith('.incomplete') && readFileSync(hub.blobPath(name)).length > 50_000
})

describe('pocket models list', () => {
  it('shows what there is and what is here', async () => {
    await download()
    const { code, stdout } = await hub.pocket(['models', 'list'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^model +language +layers +on this machine\n/)
    expect(stdout).toMatch(/^english_2026-09, english +English +6 +-$/m)
    expect(stdout).toMatch(
      /^french_24l +French +24 +2\.8 MB: weights without voice cloning, tokenizer, voice estelle$/m,
    )
    expect(stdout.endsWith(`\n${hub.cache}: 2.8 MB\n`)).toBe(true)
  })

  it('tells programs in JSON', async () => {
    await download()
    const { models, cache } = JSON.parse((await hub.pocket(['models', 'list', '--json'])).stdout)
    expect(cache).toBe(hub.cache)
    const found = models.find(({ id }: { id: string }) => id === french.id)
    expect(found).toMatchObject({ language: 'fr', layers: 24, defaultVoice: 'estelle', bytes: 2_764_593 })
    expect(found.files.map(({ kind }: { kind: string }) => kind)).toEqual([
      'weights without voice cloning',
      'tokenizer',
      'voice',
    ])
  })

  it('counts what downloads that were broken off have left, which remove --incomplete frees', async () => {
    await download()
    writeFileSync(`${hub.blobPath('a'.repeat(64))}.pocket.incomplete`, new Uint8Array(1500))
    expect((await hub.pocket(['models', 'list'])).stdout).toContain(
      '\n1.5 kB of downloads that were broken off;',
    )
    expect((await hub.pocket(['models', 'remove', '--incomplete'])).stdout).toBe(
      '1.5 kB of downloads that were broken off are freed\n',
    )
    expect(hub.blobs()).toHaveLength(3)
  })
})

describe('pocket models verify', () => {
  it('finds sound files sound, and says where nothing is', async () => {
    expect(await hub.pocket(['models', 'verify'])).toEqual({
      code: 0,
      stdout: 'nothing of the published models is on this machine\n',
      stderr: '',
    })
    await download()
    const { code, stdout } = await hub.pocket(['models', 'verify', french.id])
    expect(code).toBe(0)
    expect(stdout.match(/^sound: hf:\/\/kyutai\//gm)).toHaveLength(3)
    expect(stdout).toMatch(/\n3 files, 2\.8 MB\n$/)
  })

  it('finds a damaged file, with exit code 1; what it advises helps', async () => {
    await download()
    const changed = french.weights.slice()
    changed[1000]! ^= 1
    writeFileSync(weightsBlob(), changed)
    const { code, stdout, stderr } = await hub.pocket(['models', 'verify'])
    expect(code).toBe(1)
    expect(stdout).toContain(`hash ${sha256(changed)}, expected ${sha256(french.weights)}`)
    expect(stderr).toMatch(/^pocket: 1 of 3 files damaged; remove what is, and it is fetched anew:\n/)
    const [, advice = ''] = /pocket (models remove \S+)\n$/.exec(stderr) ?? []
    expect((await hub.pocket([...advice.split(' '), '--yes'])).stdout).toMatch(
      /1 file removed, 2\.4 MB freed\n$/,
    )
    await download()
    expect((await hub.pocket(['models', 'verify', '-q'])).code).toBe(0)
  })
})

describe('pocket models remove', () => {
  it('says what would go, and goes no further where nobody can be asked', async () => {
    await download()
    const { code, stdout, stderr } = await hub.pocket(['models', 'remove', french.id])
    expect(code).toBe(2)
    expect(stdout.match(/^ {2}hf:\/\/kyutai\/\S+ +\d+\.\d [kM]B$/gm)).toHaveLength(3)
    expect(stderr).toBe('pocket: nobody can be asked here; give --yes if you are sure\n')
    expect(hub.blobs()).toHaveLength(3)
  })

  it('removes a model, or what a place has left', async () => {
    await download('--voices', 'alba,estelle')
    const voices = 'hf://kyutai/pocket-tts-without-voice-cloning/languages/french_24l/embeddings'
    const first = await hub.pocket(['models', 'remove', `${voices}/alba.safetensors`, '--yes'])
    // Both voices have the same contents here, which stay.
    expect(first.stdout).toMatch(/\n1 file removed, 0 bytes freed\n$/)
    const second = await hub.pocket(['models', 'remove', french.id, '--yes'])
    expect(second.stdout).toMatch(/\n3 files removed, 2\.8 MB freed\n$/)
    expect(hub.blobs()).toEqual([])
    expect((await hub.pocket(['models', 'remove', french.id])).stdout).toBe(
      'nothing of french_24l is on this machine\n',
    )
  })

  it('asks which', async () => {
    expect(await hub.pocket(['models', 'remove'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name the model to remove'),
    })
  })
})
