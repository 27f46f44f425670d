import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodeWav } from '@pocket/tts'
import { fixturePath, maxAbsoluteError, readTensorFile, relativeL2, writeTensorFile } from '@tooling/fixtures'
import { beforeEach, describe, expect, it } from 'vitest'
import { useFolder } from './folder.ts'
import { parseWav, pocket } from './pocket.ts'
import { speech, tts, writeRecording } from './recordings.ts'

const folder = useFolder()
const run = (...args: string[]) => pocket(args, folder.path)
const inFolder = (name: string): string => join(folder.path, name)
const { frameSize, latentDim } = tts.codec.config
const frames = Math.ceil(speech.length / frameSize)
const model = fileURLToPath(new URL('model', import.meta.resolve('@pocket/mini/package.json')))

beforeEach(() => writeRecording(inFolder('in.wav'), speech))

/** A file of latents, made by hand; with every value 0.1, or as `values` has them. */
const writeLatents = (
  metadata: Record<string, string>,
  {
    shape = [2, latentDim],
    values = new Float32Array(shape.reduce((count: number, size: number) => count * size, 1)).fill(0.1),
  } = {},
): void => {
  const bytes = new Uint8Array(values.buffer)
  const file = writeTensorFile([{ name: 'latents', dtype: 'F32', shape, bytes }], metadata)
  writeFileSync(inFolder('x.safetensors'), file)
}

describe('pocket encode', () => {
  it('writes the latents that the library gives, with what decoding needs to know', async () => {
    const { code, stdout, stderr } = await run('encode', 'in.wav', '-o', 'x.safetensors')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(String(stdout)).toMatch(
      /^x\.safetensors: 21 × 32 latents of 1\.67 s of sound, made in \d+\.\d\d s \(\d+\.\d × real time\)\n$/,
    )
    expect(folder.files()).toEqual(['in.wav', 'x.safetensors'])
    const { metadata, tensors } = readTensorFile(folder.read('x.safetensors'))
    expect(metadata).toEqual({
      'pocket.model': 'pocket-mini',
      'pocket.frame_rate': '12.5',
      'pocket.samples': String(speech.length),
    })
    expect([...tensors.keys()]).toEqual(['latents'])
    const latents = tensors.get('latents')!
    expect(latents).toMatchObject({ dtype: 'F32', shape: [frames, latentDim] })
    const { data } = await tts.codec.encode(speech)
    expect(relativeL2(new Float32Array(latents.bytes.buffer), data)).toBeLessThan(1e-5)
  })

  it('reads pipes and writes pipes, and a header that does not know its length', async () => {
    await run('encode', 'in.wav', '-o', 'x.safetensors')
    const streamed = folder.read('in.wav')
    streamed.fill(0xff, 4, 8).fill(0xff, 40, 44)
    const piped = await pocket(['encode', '-', '-o', '-'], folder.path, streamed)
    expect(piped).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^standard output: 21 × 32 latents/),
    })
    expect(piped.stdout.equals(folder.read('x.safetensors'))).toBe(true)
  })
})

describe('pocket decode', () => {
  it('gives back the recording: as long, to the sample, and much the same sound', async () => {
    await run('encode', '-q', 'in.wav', '-o', 'x.safetensors')
    const { code, stdout, stderr } = await run('decode', 'x.safetensors', '-o', 'out.wav')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(String(stdout)).toMatch(/^out\.wav: 1\.67 s of sound, made in /)
    const pcm = decodeWav(folder.read('out.wav'))
    expect(pcm).toHaveLength(speech.length)
    const { data } = await tts.codec.encode(speech)
    const decoded = await tts.codec.createDecoder().decode(data)
    // One step of 16 bits for rounding, one for another level of the kernels.
    expect(maxAbsoluteError(pcm, decoded.subarray(0, pcm.length))).toBeLessThan(2 / 32768)
    expect(correlation(loudness(pcm), loudness(speech))).toBeGreaterThan(0.9)
  })

  it('writes to standard output what it would write into a file', async () => {
    await run('encode', '-q', 'in.wav', '-o', 'x.safetensors')
    await run('decode', '-q', 'x.safetensors', '-o', 'out.wav')
    const piped = await pocket(['decode', '-', '-o', '-', '-q'], folder.path, folder.read('x.safetensors'))
    expect(piped).toMatchObject({ code: 0, stderr: '' })
    expect(parseWav(piped.stdout).data.equals(parseWav(folder.read('out.wav')).data)).toBe(true)
  })

  it('takes latents from elsewhere, as whole frames, and the same model as a folder', async () => {
    writeLatents({})
    expect(await run('decode', 'x.safetensors', '-o', 'a.wav')).toMatchObject({ code: 0 })
    expect(await run('decode', 'x.safetensors', '-o', 'b.wav', '--model', model)).toMatchObject({ code: 0 })
    expect(decodeWav(folder.read('a.wav'))).toHaveLength(2 * frameSize)
    expect(folder.read('b.wav')).toEqual(folder.read('a.wav'))
  })
})

/** The root mean square of every 20 ms. */
const loudness = (samples: Float32Array): number[] =>
  Array.from({ length: Math.floor(samples.length / 480) }, (_, i) =>
    Math.hypot(...samples.subarray(480 * i, 480 * (i + 1))),
  )

const correlation = (a: readonly number[], b: readonly number[]): number => {
  const centred = (values: readonly number[]): number[] => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    return values.map((value) => value - mean)
  }
  const [x, y] = [centred(a), centred(b)]
  return x.reduce((sum, value, i) => sum + value * y[i]!, 0) / (Math.hypot(...x) * Math.hypot(...y))
}

describe('wrong input: exit code 2, one message, nothing written', () => {
  const expectRefusal = async (args: string[], message: RegExp) => {
    const before = folder.files()
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stdout: String(stdout) }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^pocket: /)
    expect(stderr).toMatch(message)
    expect(folder.files()).toEqual(before)
  }

  it.each<[string, number[], RegExp]>([
    [
      '48 kHz',
      [24, 0x80, 0xbb],
      /bad\.wav: the WAV file has a sample rate of 48000 Hz; a WAV file of 24 kHz/,
    ],
    ['two channels', [22, 2], /bad\.wav: the WAV file has 2 channels/],
    ['8 bits', [34, 8], /bad\.wav: the samples of the WAV file have 8 bits/],
    ['FLAC', [0, ...Buffer.from('fLaC')], /bad\.wav: this is a FLAC file/],
    ['no samples', [40, 0, 0, 0, 0], /bad\.wav: the WAV file holds no samples/],
  ])('encode: %s', async (_title, [offset = 0, ...bytes], message) => {
    const file = folder.read('in.wav')
    file.set(bytes, offset)
    writeFileSync(inFolder('bad.wav'), file)
    await expectRefusal(['encode', 'bad.wav'], message)
  })

  it.each<[string, string[], RegExp]>([
    ['no recording', ['encode'], /missing required argument 'recording'/],
    [
      'a recording that is not there',
      ['encode', 'gone.wav'],
      /gone\.wav cannot be read: there is no such file/,
    ],
    ['a folder', ['encode', '.'], /\. is a folder/],
    ['an output that cannot be', ['encode', 'in.wav', '-o', 'gone/x'], /there is no folder .*gone/],
    [
      'a codec that only clones',
      ['encode', 'in.wav', '--model', fixturePath('tiny/tiny-2026-01')],
      /tiny-2026-01 encodes to \d+ values and decodes from \d+/,
    ],
    ['sound in place of latents', ['decode', 'in.wav'], /^pocket: in\.wav: /],
    [
      'weights in place of latents',
      ['decode', join(model, 'model.safetensors')],
      /model\.safetensors: it has no tensor 'latents'/,
    ],
  ])('%s', (_title, args, message) => expectRefusal(args, message))

  it.each<[string, Record<string, string>, Parameters<typeof writeLatents>[1], RegExp]>([
    [
      'of another model',
      { 'pocket.model': 'german' },
      {},
      /with the model german, this model is pocket-mini/,
    ],
    ['of another width', {}, { shape: [2, 16] }, /latents have 16 values, those of pocket-mini have 32/],
    ['of another rate', { 'pocket.frame_rate': '25' }, {}, /25 frames a second, pocket-mini has 12\.5/],
    ['for fewer frames', { 'pocket.samples': '1920' }, {}, /1920 samples do not fill 2 frames/],
    ['of no number of samples', { 'pocket.samples': 'many' }, {}, /NaN samples do not fill 2 frames/],
    ['of no frames', {}, { shape: [0, 32] }, /latents is \[0, 32\], expected \[frames/],
    ['in three dimensions', {}, { shape: [1, 2, 32] }, /latents is \[1, 2, 32\]/],
    ['that are no numbers', {}, { shape: [1, 32], values: new Float32Array(32).fill(Number.NaN) }, /NaN/],
  ])('decode: latents %s', async (_title, metadata, tensor, message) => {
    writeLatents(metadata, tensor)
    await expectRefusal(['decode', 'x.safetensors'], message)
  })
})
