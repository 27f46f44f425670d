import { mini } from '@pocket/mini'
import { PocketTts } from '@pocket/tts'
import { formatSpeed } from '../progress.ts'
import type { Check } from './finding.ts'

const sentence = 'Hello from my pocket.'
/** Quieter than this, 60 dB below the loudest sound there is, is silence. */
const silence = 1e-3
/** By then a machine without SIMD has shown how slow it is, in milliseconds. */
const patience = 3000

/** The embedded model loads and speaks, and how long that takes. */
export const checkModel: Check = async (signal) => {
  const start = performance.now()
  const tts = await PocketTts.load(mini, { signal })
  const loaded = performance.now()
  const times: number[] = []
  let loudest = 0
  for await (const { pcm } of tts.stream(sentence, { signal })) {
    times.push(performance.now())
    for (const sample of pcm) {
      // Written so that NaN counts as loud, not as silent.
      if (!(Math.abs(sample) <= loudest)) loudest = Math.abs(sample)
    }
    if (times.length > 1 && performance.now() - loaded > patience) break
  }
  const { frameRate } = tts.codec.config
  const { backend, threads } = tts
  tts.dispose()
  if (!(loudest > silence && loudest < 2)) {
    throw new Error(`the embedded model speaks, but its loudest sample is ${loudest}; expected about 0.5`)
  }
  const [first = loaded] = times
  const msPerFrame = ((times.at(-1) ?? first) - first) / Math.max(times.length - 1, 1)
  const facts = {
    loadMs: loaded - start,
    firstFrameMs: first - loaded,
    msPerFrame,
    frames: times.length,
    backend: backend.name,
    simd: backend.simd,
    threads,
  }
  const speed = formatSpeed(1000 / frameRate / msPerFrame)
  return {
    state: 'fine',
    lines: [
      `the embedded model speaks: ${msPerFrame.toFixed(1)} ms for a frame of ${1000 / frameRate} ms (${speed}), ` +
        `the first after ${facts.firstFrameMs.toFixed(0)} ms, loaded in ${facts.loadMs.toFixed(0)} ms`,
      `with --backend ${backend.name}${backend.simd ? ` --simd ${backend.simd} --threads ${threads}` : ''}`,
    ],
    facts,
  }
}
