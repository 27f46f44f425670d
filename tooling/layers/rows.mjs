/**
 * The layers, from the ground up. A package may import from rows below its own; never sideways, never up.
 * @type {string[][]}
 */
export const rows = [
  ['mini', 'safetensors', 'sentencepiece'],
  ['nn'],
  ['kernels-cpu', 'kernels-wgsl'],
  ['flowlm', 'mimi'],
  ['tts'],
]
