/** A loading option that takes one of a few values, for command lines and pages that let people choose. */
export interface OptionChoices {
  /** What is chosen, in a few words. */
  readonly about: string
  /** What each value means, in a few words; the usual one is first. */
  readonly values: Readonly<Record<string, string>>
}

/** A loading option that takes a whole number. */
export interface OptionCount {
  readonly about: string
  readonly least: number
  readonly most: number
}

/** Every value of the options of `PocketTts.load` that take one of a few. */
export const loadChoices = {
  backend: {
    about: 'what computes',
    values: {
      auto: 'a GPU that is right and faster, else the CPU',
      cpu: 'WebAssembly',
      hybrid: 'language model on the CPU, codec on a GPU',
      gpu: 'everything on a GPU',
    },
  },
  precision: {
    about: 'how the language model is kept',
    values: {
      stored: 'as the file has it',
      int8: 'half the memory, faster, a little other speech',
      bf16: '16 bits',
      f32: '32 bits, for comparison',
    },
  },
  codecPrecision: {
    about: 'how the codec computes sound',
    values: {
      stored: 'by the weights as the file has them',
      int16: 'integers, on the CPU: faster, sounds the same',
    },
  },
  cloning: {
    about: 'when that is read which only cloning voices needs',
    values: {
      'when-needed': 'with the first recording, where the weights are in a file',
      ready: 'with everything else',
    },
  },
  gpuTuning: {
    about: 'how work is cut for a GPU',
    values: {
      auto: 'what was measured fastest, without changing a bit',
      fastest: 'also what changes last digits',
    },
  },
  simd: {
    about: 'level of the kernels on the CPU',
    values: {
      auto: 'the best that there is here',
      relaxed: 'the fastest; last digits vary by processor',
      simd: 'the same digits on every machine',
      scalar: 'no WebAssembly: slow, for comparison',
    },
  },
} as const satisfies Readonly<Record<string, OptionChoices>>

/** The values of one of them. */
export type Choice<Name extends keyof typeof loadChoices> = keyof (typeof loadChoices)[Name]['values']

/** Bounds of the options of `PocketTts.load` that are counts. */
export const loadCounts = {
  /** More than 64 is a mistake, and what `createCpuKernels` refuses. */
  threads: {
    about: 'threads that share the work of the CPU; default: one a processor, at most 4',
    least: 1,
    most: 64,
  },
  lanes: {
    about: 'utterances that a GPU speaks side by side; default: 1, each by itself',
    least: 1,
    most: Number.MAX_SAFE_INTEGER,
  },
} as const satisfies Readonly<Record<string, OptionCount>>

/** An option and what its values mean as lines of help, the first of which says what is chosen. */
export const describeChoices = ({ about, values }: OptionChoices): string =>
  [about, ...Object.entries(values).map(([value, meaning]) => `  ${value}: ${meaning}`)].join('\n')
