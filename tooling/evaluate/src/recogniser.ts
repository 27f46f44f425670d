import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const acousticModel = '/usr/share/pocketsphinx/model/en-us'

/**
 * What pocketsphinx understands of each WAV file, in order; an empty text where it heard nothing.
 * It needs the Debian packages pocketsphinx, pocketsphinx-en-us and sox.
 */
export const recognise = async (wavFiles: readonly string[]): Promise<string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'recognise-'))
  try {
    for (const [index, file] of wavFiles.entries()) await resample(file, join(folder, `${index}.wav`))
    const list = join(folder, 'list')
    const output = join(folder, 'heard')
    await writeFile(list, wavFiles.map((_, index) => `${index}\n`).join(''))
    await pocketsphinx(folder, list, output)
    return parseHypotheses(await readFile(output, 'utf8'), wavFiles.length)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** 16 kHz, as the acoustic model was trained, at an even level, with a little silence at both ends. */
const resample = (source: string, target: string): Promise<unknown> => {
  const format = ['-r', '16000', '-c', '1', '-b', '16']
  return requireTool('sox', [source, ...format, target, 'gain', '-n', '-6', 'pad', '0.25', '0.25'])
}

const pocketsphinx = (folder: string, list: string, output: string): Promise<unknown> =>
  requireTool('pocketsphinx_batch', [
    ...['-hmm', `${acousticModel}/en-us`, '-lm', `${acousticModel}/en-us.lm.bin`],
    ...['-dict', `${acousticModel}/cmudict-en-us.dict`, '-remove_noise', 'no'],
    ...['-ctl', list, '-cepdir', folder, '-cepext', '.wav', '-adcin', 'yes', '-adchdr', '44', '-hyp', output],
  ])

const requireTool = async (tool: string, args: string[]): Promise<void> => {
  try {
    await run(tool, args, { maxBuffer: 1 << 28 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(`${tool} is missing: apt-get install pocketsphinx pocketsphinx-en-us sox`)
  }
}

/** Lines like `where are we (3 -2437)`: the words, the utterance's name, a score. `read(2)` is a variant of `read`. */
export const parseHypotheses = (text: string, count: number): string[] => {
  const heard = Array.from({ length: count }, () => '')
  for (const [, words, index] of text.matchAll(/^(.*?)\s*\((\d+) [^)]*\)$/gm)) {
    heard[Number(index)] = words!.replace(/\(\d+\)/g, '')
  }
  return heard
}
