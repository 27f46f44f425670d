import { execFile } from 'node:child_process'
import process from 'node:process'

export interface Output {
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end. A failure is thrown with all that the command printed. */
export const run = (command: string, args: readonly string[], cwd: string): Promise<Output> =>
  new Promise((resolve, reject) => {
    const options = { cwd, maxBuffer: 2 ** 26, shell: process.platform === 'win32' }
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (!error) resolve({ stdout, stderr })
      else reject(new Error(`${command} ${args.join(' ')} in ${cwd} failed\n${stdout}\n${stderr}`))
    })
  })

/** Runs a program to its end, whatever becomes of it. */
export const outcomeOf = (
  file: string,
  args: readonly string[],
  cwd: string,
): Promise<Output & { readonly code: number | string | null | undefined }> =>
  new Promise((resolve) => {
    execFile(file, [...args], { cwd }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    )
  })

/** Runs a program on the Node that runs this, and gives what it printed; anything on stderr is a failure. */
export const runNode = async (args: readonly string[], cwd: string): Promise<string> => {
  const { stdout, stderr } = await run(process.execPath, args, cwd)
  if (stderr !== '') throw new Error(`node ${args.join(' ')} printed to stderr:\n${stderr}`)
  return stdout
}
