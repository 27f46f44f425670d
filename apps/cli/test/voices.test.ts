import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readTensorFile } from '@tooling/fixtures'
import { beforeEach, describe, expect, it } from 'vitest'
import { useFolder } from './folder.ts'
import { pocket } from './pocket.ts'
import { speech, tts, writeRecording } from './recordings.ts'

const folder = useFolder()
const run = (...args: string[]) => pocket(args, folder.path)
const inFolder = (name: string): string => join(folder.path, name)

beforeEach(() => writeRecording(inFolder('me.wav'), speech))

describe('pocket export-voice', () => {
  it('clones a voice, into a file that another reader opens and that speaks as the recording does', async () => {
    const { code, stdout, stderr } = await run('export-voice', 'me.wav')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(String(stdout)).toBe('./voice.safetensors: a voice for pocket-mini, from 1.67 s of me.wav\n')
    expect(folder.files()).toEqual(['me.wav', 'voice.safetensors'])

    const { metadata, tensors } = readTensorFile(folder.read('voice.safetensors'))
    expect(metadata).toEqual({ 'pocket.model': 'pocket-mini', 'pocket.sha256': tts.config.sha256 })
    const { positions } = (await tts.cloneVoice(speech)).kv
    const { layers, heads, headDim } = tts.flowLm.config
    expect(tensors.size).toBe(2 * layers)
    expect(tensors.get('transformer.layers.0.self_attn/cache')).toMatchObject({
      dtype: 'F32',
      shape: [2, 1, positions, heads, headDim],
    })

    const exported = await run('generate', 'Yes.', '--voice', './voice.safetensors', '-o', '-')
    const cloned = await run('generate', 'Yes.', '--voice', 'me.wav', '-o', '-')
    const other = await run('generate', 'Yes.', '-o', '-')
    expect([exported.code, cloned.code, other.code]).toEqual([0, 0, 0])
    expect(cloned.stdout.equals(exported.stdout)).toBe(true)
    expect(cloned.stdout.equals(other.stdout)).toBe(false)
  })

  it('writes where it is told: a second argument, -o, a folder, standard output', async () => {
    mkdirSync(inFolder('voices'))
    expect(await run('export-voice', '-q', 'me.wav', 'a.safetensors')).toMatchObject({ code: 0, stderr: '' })
    expect(await run('export-voice', '-q', 'me.wav', '-o', 'b.safetensors')).toMatchObject({ code: 0 })
    expect(await run('export-voice', '-q', 'me.wav', 'voices')).toMatchObject({ code: 0 })
    const piped = await pocket(['export-voice', '-', '-'], folder.path, folder.read('me.wav'))
    expect(piped.stderr).toBe('standard output: a voice for pocket-mini, from 1.67 s of standard input\n')
    const voice = folder.read('a.safetensors')
    expect(folder.read('b.safetensors')).toEqual(voice)
    expect(folder.read('voices/me.safetensors')).toEqual(voice)
    expect(new Uint8Array(piped.stdout)).toEqual(voice)
  })

  it('takes every WAV file of a folder', async () => {
    mkdirSync(inFolder('in'))
    writeRecording(inFolder('in/one.wav'), speech.subarray(0, 2000))
    writeRecording(inFolder('in/two.WAV'), speech.subarray(2000, 5000))
    const { code, stdout } = await run('export-voice', 'in', 'new/voices')
    expect({ code, stdout: String(stdout) }).toEqual({
      code: 0,
      stdout: [
        'new/voices/one.safetensors: a voice for pocket-mini, from 0.08 s of in/one.wav\n',
        'new/voices/two.safetensors: a voice for pocket-mini, from 0.13 s of in/two.WAV\n',
      ].join(''),
    })
  })

  it('hears as much as --max-seconds says', async () => {
    writeRecording(inFolder('short.wav'), speech.subarray(0, 12_000))
    await run('export-voice', '-q', 'short.wav', 'short.safetensors')
    const { stdout } = await run('export-voice', 'me.wav', 'cut.safetensors', '--max-seconds', '0.5')
    expect(String(stdout)).toContain('from 0.50 s of me.wav')
    expect(folder.read('cut.safetensors')).toEqual(folder.read('short.safetensors'))
  })
})

const packageFile = fileURLToPath(new URL('../package.json', import.meta.url))

describe('wrong input: exit code 2, one message, nothing written', () => {
  it.each<[string, string[], RegExp]>([
    ['two outputs', ['export-voice', 'me.wav', 'a', '-o', 'b'], /given twice/],
    ['no recording', ['export-voice'], /missing required argument 'recording'/],
    ['a recording that is not there', ['export-voice', 'gone.wav'], /gone\.wav cannot be read/],
    ['what is no recording', ['export-voice', packageFile], /package\.json: this is no audio file/],
    ['a folder and one voice', ['export-voice', '.'], /\. is a folder: name a folder for its voices too/],
    ['no time to listen', ['export-voice', 'me.wav', '--max-seconds', '0'], /--max-seconds is 0/],
    [
      'to clone from a file that is not there',
      ['generate', 'Hi.', '--voice', 'gone.wav'],
      /gone\.wav cannot/,
    ],
    ['to clone from MP3', ['generate', 'Hi.', '--voice', 'song.mp3'], /song\.mp3 cannot be read/],
  ])('%s', async (_title, args, message) => {
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stdout: String(stdout) }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^pocket: /)
    expect(stderr).toMatch(message)
    expect(folder.files()).toEqual(['me.wav'])
  })

  it('a folder without recordings', async () => {
    mkdirSync(inFolder('empty'))
    const { code, stderr } = await run('export-voice', 'empty', 'voices')
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'pocket: the folder empty holds no WAV file\n' })
  })
})
