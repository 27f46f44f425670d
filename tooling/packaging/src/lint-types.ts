import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core'

/** Where a problem shows: all kinds say it one way or the other. */
const resolutionOf = (problem: Problem): string => {
  if ('resolutionKind' in problem) return problem.resolutionKind
  return 'resolutionOption' in problem ? problem.resolutionOption : ''
}

// The profile `esm-only` of the checker's command line. TypeScript's node10 knows no exports map, and CommonJS gets
// ES modules by `require`, which Node has allowed since 22.12.
const ignored = new Set(['node10', 'node16-cjs'])

/** What "are the types wrong?" has against a tarball, one line each. */
export const typeProblems = async (tarball: string): Promise<string[]> => {
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))))
  if (!result.types) return ['the package has no types']
  return result.problems
    .filter((problem) => !ignored.has(resolutionOf(problem)))
    .map((problem) => JSON.stringify(problem))
}
