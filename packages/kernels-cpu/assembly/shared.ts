/** The kernels for memory that threads share. See index.ts. */
export { assemble, crewBytes, dismiss, fail, finish, gather, isScattered, look, run, serve, start } from './crew'
export { multipliesDigits, repeatProducts } from './digit-test'
export { packPanel } from './pack'
export { packIntegers } from './pack-integers'

/** The first address that the host may use: a few constants lie before it. */
export const memoryBegin: usize = __heap_base
