/** The part of the package that has no declarations of its own, as far as it is used here. */
declare module '@evan/opus/wasm/index.mjs' {
  export class Encoder {
    constructor(options: {
      channels: 1 | 2
      sample_rate: number
      application: 'voip' | 'audio' | 'restricted_lowdelay'
    })
    /** Gives the answer to a request without a value; with a value, sets it. Throws where libopus refuses. */
    ctl(request: number, value?: number): number
    /** One packet of 16-bit samples. */
    encode(samples: ArrayBufferView): Uint8Array
    /** Frees its memory. */
    drop(): void
  }
}
