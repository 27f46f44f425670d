// Speaks through the server of this page: 16-bit samples are scheduled on the clock of the sound card as they arrive.
const sampleRate = 24000

const form = document.querySelector('form')
const status = document.querySelector('[role=status]')
const { text, voice, key, stop } = form.elements
let running

const authorization = () => (key.value ? { authorization: `Bearer ${key.value}` } : {})

const listVoices = async () => {
  const response = await fetch('v1/audio/voices', { headers: authorization() })
  if (!response.ok) return
  const { voices, default: usual } = await response.json()
  voice.replaceChildren(...voices.map(({ id }) => new Option(id, id, id === usual, id === usual)))
}

/** Pieces of bytes as whole samples; half a sample waits for its other half. */
async function* samplesOf(body) {
  // Not every browser can iterate a stream.
  const reader = body.getReader()
  let rest = new Uint8Array(0)
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const bytes = new Uint8Array(rest.length + value.length)
    bytes.set(rest)
    bytes.set(value, rest.length)
    const whole = bytes.length - (bytes.length % 2)
    rest = bytes.slice(whole)
    const view = new DataView(bytes.buffer)
    yield Float32Array.from({ length: whole / 2 }, (_, i) => view.getInt16(2 * i, true) / 32768)
  }
}

const play = async (body, context) => {
  let end = context.currentTime + 0.1
  for await (const samples of samplesOf(body)) {
    if (samples.length === 0) continue
    const buffer = context.createBuffer(1, samples.length, sampleRate)
    buffer.copyToChannel(samples, 0)
    const source = new AudioBufferSourceNode(context, { buffer })
    source.connect(context.destination)
    end = Math.max(end, context.currentTime)
    source.start(end)
    end += buffer.duration
  }
  return end
}

const speak = async (signal, context) => {
  const body = { model: 'tts-1', input: text.value, voice: voice.value || 'alloy', response_format: 'pcm' }
  const response = await fetch('v1/audio/speech', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization() },
    body: JSON.stringify(body),
    signal,
  })
  if (!response.ok) throw new Error((await response.json()).error.message)
  status.textContent = 'Speaking.'
  const end = await play(response.body, context)
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, end - context.currentTime) * 1000)
    signal.addEventListener('abort', () => resolve(clearTimeout(timer)))
  })
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  running?.abort()
  const controller = new AbortController()
  running = controller
  const context = new AudioContext({ sampleRate })
  stop.disabled = false
  status.textContent = 'Thinking.'
  try {
    await speak(controller.signal, context)
    status.textContent = ''
  } catch (error) {
    status.textContent = controller.signal.aborted ? '' : error.message
  } finally {
    await context.close()
    if (running === controller) stop.disabled = true
  }
})
stop.addEventListener('click', () => running?.abort())
key.addEventListener('change', listVoices)
await listVoices()
