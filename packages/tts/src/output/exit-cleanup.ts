import { rmSync } from 'node:fs'
import process from 'node:process'

const files = new Set<string>()

/** Has the file removed where the process exits before `forgetAtExit`, be it in the middle of a write. */
export const removeAtExit = (path: string): void => {
  if (files.size === 0) process.on('exit', removeFiles)
  files.add(path)
}

export const forgetAtExit = (path: string): void => {
  files.delete(path)
  if (files.size === 0) process.off('exit', removeFiles)
}

const removeFiles = (): void => {
  for (const path of files) rmSync(path, { force: true })
}
