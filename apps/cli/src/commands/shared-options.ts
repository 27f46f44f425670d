import { Option } from 'commander'

export const modelOption = (): Option =>
  new Option(
    '--model <model>',
    'a published model by its id (english, german, …), or a model folder or config.yaml by path or URL, in place ' +
      'of the embedded model',
  )

export const simdOption = (): Option =>
  new Option('--simd <level>', 'WebAssembly level of the kernels')
    .choices(['auto', 'relaxed', 'simd', 'scalar'])
    .default('auto')

export const quietOption = (): Option => new Option('-q, --quiet', 'print nothing but errors')
