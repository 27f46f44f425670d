import type { Matrix, Vector } from '@pocket/nn'

/** Handles with shapes only: recordings need no more. */
export const matrix = (outputs: number, inputs: number): Matrix => ({ outputs, inputs })
export const vector = (length: number): Vector => ({ length })
