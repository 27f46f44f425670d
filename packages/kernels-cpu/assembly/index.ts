/**
 * The kernels, in AssemblyScript. They own no memory and keep no state: every argument is an address that the host
 * laid out, or a block of fields (`Program`, `Product`, `Attention`, …) that it filled.
 */
export { multipliesDigits, repeatProducts } from './digit-test'
export { packPanel } from './pack'
export { packIntegers } from './pack-integers'
export { run } from './program'

/** The first address that the host may use: a few constants lie before it. */
export const memoryBegin: usize = __heap_base
