import { chmodSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { useFolder } from './folder.ts'
import { parseWav, pocket } from './pocket.ts'

const folder = useFolder()
const generate = (...args: string[]) => pocket(['generate', ...args], folder.path)

describe('pocket generate', () => {
  it('speaks into a WAV file with true sizes, and says where, how long and how fast', async () => {
    const { code, stdout, stderr } = await generate('Hello from my pocket.')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(folder.files()).toEqual(['tts_output.wav'])
    const file = folder.read('tts_output.wav')
    const wav = parseWav(file)
    expect(wav).toMatchObject({
      magic: ['RIFF', 'WAVEfmt ', 'data'],
      channels: 1,
      sampleRate: 24000,
      bits: 16,
    })
    expect([wav.riffBytes, wav.dataBytes]).toEqual([file.length - 8, file.length - 44])
    // Whole frames of 80 ms; a sentence of four words takes one to four seconds.
    expect(wav.dataBytes % (2 * 1920)).toBe(0)
    expect(wav.seconds).toBeGreaterThan(1)
    expect(wav.seconds).toBeLessThan(4)
    expect(String(stdout)).toMatch(
      /^\.\/tts_output\.wav: (\d\.\d\d) s of speech, made in \d+\.\d\d s \(\d+\.\d × real time\)\n$/,
    )
    expect(String(stdout)).toContain(` ${wav.seconds.toFixed(2)} s of speech`)
  })

  it('gives the same bytes for the same seed, and others for another seed, voice or temperature', async () => {
    const variants = [
      [],
      [],
      ['--seed', '2'],
      ['--voice', 'slt'],
      ['--temperature', '0.5'],
      ['--lsd-decode-steps', '2'],
    ]
    const outputs: string[] = []
    for (const [index, variant] of variants.entries()) {
      const { code } = await generate('Good morning.', '--seed', '1', ...variant, '-o', `${index}.wav`)
      expect(code).toBe(0)
      outputs.push(Buffer.from(folder.read(`${index}.wav`)).toString('base64'))
    }
    expect(outputs[1]).toBe(outputs[0])
    expect(new Set(outputs).size).toBe(variants.length - 1)
  })

  it('streams to standard output what it would write into a file', async () => {
    await generate('Good morning.', '-o', 'file.wav')
    const { code, stdout, stderr } = await generate('Good morning.', '-o', '-')
    expect(code).toBe(0)
    const wav = parseWav(stdout)
    expect([wav.riffBytes, wav.dataBytes]).toEqual([0xffffffff, 0xffffffff])
    expect(wav.data.equals(parseWav(folder.read('file.wav')).data)).toBe(true)
    expect(stderr).toMatch(/^standard output: \d\.\d\d s of speech/)
    expect(folder.files()).toEqual(['file.wav'])
  })

  it.each([
    ['an argument', ['generate', '-q', '-o', 'x.wav', 'Not today.'], ''],
    ['--text', ['generate', '-q', '-o', 'x.wav', '--text', 'Not today.'], ''],
    ['standard input', ['generate', '-q', '-o', 'x.wav', '-'], '\uFEFFNot today.\n'],
    ['standard input by --text', ['generate', '-q', '-o', 'x.wav', '--text', '-'], 'Not today.'],
  ])('takes the text from %s', async (_title, args, input) => {
    const run = await pocket(args, folder.path, input)
    expect({ ...run, stdout: String(run.stdout) }).toEqual({ code: 0, stdout: '', stderr: '' })
    const direct = await generate('Not today.', '-o', '-')
    expect(direct.stdout.subarray(44).equals(parseWav(folder.read('x.wav')).data)).toBe(true)
  })

  it('speaks with a model folder as with the embedded model', async () => {
    const model = fileURLToPath(new URL('model', import.meta.resolve('@pocket/mini/package.json')))
    const embedded = await generate('Not today.', '--voice', 'awb', '-o', '-')
    const other = await generate('Not today.', '--voice', 'awb', '--model', model, '-o', '-')
    const byFile = join(model, 'embeddings/awb.safetensors')
    const voiceFile = await generate('Not today.', '--voice', byFile, '-o', '-')
    expect(embedded.stdout.length).toBeGreaterThan(44)
    expect(other.stdout.equals(embedded.stdout)).toBe(true)
    expect(voiceFile.stdout.equals(embedded.stdout)).toBe(true)
  })

  it('warns when the model never comes to an end', async () => {
    const { code, stderr } = await generate('Hello.', '--eos-threshold', '1e9', '-o', 'x.wav')
    expect(code).toBe(0)
    expect(stderr).toMatch(/^pocket: warning: 'Hello\.' was cut off at \d+ frames/)
  })

  it('replaces the file that a link leads to, and writes into devices', async () => {
    mkdirSync(join(folder.path, 'real'))
    writeFileSync(join(folder.path, 'real/speech.wav'), 'old')
    chmodSync(join(folder.path, 'real/speech.wav'), 0o600)
    symlinkSync('real/speech.wav', join(folder.path, 'link.wav'))
    expect((await generate('Hello.', '-o', 'link.wav')).code).toBe(0)
    expect(lstatSync(join(folder.path, 'link.wav')).isSymbolicLink()).toBe(true)
    expect(parseWav(folder.read('real/speech.wav')).magic[0]).toBe('RIFF')
    // Who may read the old one may read the new one, and nobody else.
    expect(statSync(join(folder.path, 'real/speech.wav')).mode & 0o777).toBe(0o600)
    expect((await generate('Hello.', '-o', '/dev/null')).code).toBe(0)
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  })

  it.skipIf(process.platform !== 'linux')('says so when a device is full, without a stack', async () => {
    const { code, stderr } = await generate('Hello.', '-o', '/dev/full')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^pocket: .*no space left on device.*\n$/)
  })

  it('into a file whose name is as long as names can be', async () => {
    const name = `${'a'.repeat(251)}.wav`
    expect((await generate('Hello.', '-o', name)).code).toBe(0)
    expect(folder.files()).toEqual([name])
  })
})
