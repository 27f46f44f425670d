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
  progress: find('progress', HTMLProgressElement),
  error: find('error', HTMLElement),
  backend: find('backend', HTMLElement),
  frameTime: find('frame-time', HTMLElement),
  realTimeFactor: find('real-time-factor', HTMLElement),
  firstAudio: find('first-audio', HTMLElement),
  underruns: find('underruns', HTMLElement),
  isolated: find('isolated', HTMLElement),
  offline: find('offline', HTMLElement),
}
