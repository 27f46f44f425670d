import type { Page } from 'playwright-core'

/** A worklet of the test's own: hands on every block that it hears. Served beside the page. */
export const tapScript = `
registerProcessor('tap', class extends AudioWorkletProcessor {
  process([[samples]]) {
    if (samples) this.port.postMessage(samples.slice())
    return true
  }
})`

export const tapPath = '/tap.js'

declare global {
  var tapped: Float32Array[]
}

/** Listens to all that goes to the loudspeaker, in the page, before the page's own scripts run. */
export const installTap = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    globalThis.tapped = []
    const { addModule } = AudioWorklet.prototype
    AudioWorklet.prototype.addModule = async function (url) {
      await addModule.call(this, '/tap.js')
      await addModule.call(this, url)
    }
    const { connect } = AudioNode.prototype
    AudioNode.prototype.connect = function (this: AudioNode, ...target: unknown[]) {
      if (target[0] instanceof AudioDestinationNode) {
        const tap = new AudioWorkletNode(this.context, 'tap')
        tap.port.onmessage = ({ data }) => globalThis.tapped.push(data)
        Reflect.apply(connect, this, [tap])
        Reflect.apply(connect, tap, target)
      }
      return Reflect.apply(connect, this, target)
    } as typeof AudioNode.prototype.connect
  })

/** Forgets what was heard so far. */
export const forgetTapped = (page: Page): Promise<void> =>
  page.evaluate(() => {
    globalThis.tapped = []
  })

/** What was heard since the last call, up to the silence after it; silence before and after left out. */
export const takeTapped = async (page: Page): Promise<Float32Array> => {
  const base64 = await page.evaluate(async () => {
    // Blocks may be on their way when the page says that it has finished, for long on a busy machine: silence is last.
    for (let waited = 0; waited < 3000; waited += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      if (waited >= 50 && globalThis.tapped.at(-1)?.every((sample) => sample === 0)) break
    }
    const bytes = new Uint8Array(await new Blob(globalThis.tapped as BlobPart[]).arrayBuffer())
    globalThis.tapped = []
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  })
  const samples = new Float32Array(new Uint8Array(Buffer.from(base64, 'base64')).buffer)
  return trimSilence(samples)
}

/** Samples from the first to the last that is not zero. */
export const trimSilence = (samples: Float32Array): Float32Array =>
  samples.subarray(
    samples.findIndex((sample) => sample !== 0),
    samples.findLastIndex((sample) => sample !== 0) + 1,
  )
