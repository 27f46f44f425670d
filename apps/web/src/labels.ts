import type { EngineSettings } from './settings.ts'

export type Labelled = 'backend' | 'precision' | 'codecPrecision'

/** Values in the words of the page; what each means is the library's to say. */
export const labels: { readonly [Name in Labelled]: Readonly<Record<EngineSettings[Name], string>> } = {
  backend: { auto: 'Automatic', cpu: 'CPU', hybrid: 'CPU and GPU', gpu: 'GPU' },
  precision: { stored: 'As stored', int8: '8 bits', bf16: '16 bits', f32: '32 bits' },
  codecPrecision: { stored: 'As stored', int16: '16-bit integers' },
}
