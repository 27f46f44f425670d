/**
 * The kernels, in AssemblyScript. They own no memory and keep no state: every argument is an address that the host
 * laid out, or a descriptor (a block of fields, `Product`, `Attention`, …) that it filled.
 */
export { append, attend } from './attention'
export { slide, upsample } from './convolution'
export { activate } from './elementwise'
export { normalize } from './normalize'
export { packPanel } from './pack'
export { multiply } from './product'

/** The first address that the host may use: a few constants lie before it. */
export const memoryBegin: usize = __heap_base
