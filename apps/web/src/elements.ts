const find = <Kind extends Element>(id: string, kind: new () => Kind): Kind => {
  const element = document.getElementById(id)
  if (element instanceof kind) return element
  throw new Error(`the page has no ${kind.name} #${id}`)
}

/** The parts of the page that change, or that are read. */
export const elements = {
  form: find('form', HTMLFormElement),
  text: find('text', HTMLTextAreaElement),
  voice: find('voice', HTMLSelectElement),
  seed: find('seed', HTMLInputElement),
  temperature: find('temperature', HTMLInputElement),
  temperatureValue: find('temperature-value', HTMLElement),
  speak: find('speak', HTMLButtonElement),
  stop: find('stop', HTMLButtonElement),
  download: find('download', HTMLButtonElement),
  waveform: find('waveform', HTMLCanvasElement),
  status: find('status', HTMLElement),
  loading: find('loading', HTMLElement),
  progress: find('progress', HTMLProgressElement),
  cancel: find('cancel', HTMLButtonElement),
  error: find('error', HTMLElement),
  choices: find('choices', HTMLFieldSetElement),
  chooseBackend: find('choose-backend', HTMLSelectElement),
  backendHint: find('backend-hint', HTMLElement),
  choosePrecision: find('choose-precision', HTMLSelectElement),
  precisionHint: find('precision-hint', HTMLElement),
  chooseCodecPrecision: find('choose-codec-precision', HTMLSelectElement),
  codecPrecisionHint: find('codec-precision-hint', HTMLElement),
  chooseThreads: find('choose-threads', HTMLSelectElement),
  threadsHint: find('threads-hint', HTMLElement),
  backend: find('backend', HTMLElement),
  gpu: find('gpu', HTMLElement),
  precision: find('precision', HTMLElement),
  frameTime: find('frame-time', HTMLElement),
  realTimeFactor: find('real-time-factor', HTMLElement),
  firstAudio: find('first-audio', HTMLElement),
  underruns: find('underruns', HTMLElement),
  isolated: find('isolated', HTMLElement),
  offline: find('offline', HTMLElement),
}
