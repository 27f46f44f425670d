/** A whole program that a README shows. */
export interface Program {
  /** The README's path from the root of the repository. */
  readonly readme: string
  /** Counts the programs of a README, from 1. */
  readonly number: number
  readonly source: string
}

/** The ```ts blocks of a README that import something: those are programs, the others fragments. */
export const programsOf = (readme: string, text: string): Program[] =>
  [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
    .map(([, source]) => source!)
    .filter((source) => /^import\b/m.test(source))
    .map((source, index) => ({ readme, number: index + 1, source }))
