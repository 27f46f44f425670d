import module from 'node:module'
import process from 'node:process'
import { Interrupted, stoppingSignals } from './errors.ts'
import { run } from './run.ts'

// Compiled code is kept between runs, where the platform allows: the second start is quicker.
module.enableCompileCache?.()

const interruption = new AbortController()
for (const signal of stoppingSignals) {
  process.once(signal, () => interruption.abort(new Interrupted(signal)))
}

// A failed write is reported to the writer; without a listener it would also end the process with a stack.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

const { stdin, stdout, stderr, env } = process
// Not awaited: the launcher takes this module by `require`, which takes none that waits. And an exit code, not
// process.exit(): what is still on its way into a pipe would be lost.
void run(process.argv.slice(2), { stdin, stdout, stderr, env, signal: interruption.signal }).then((code) => {
  process.exitCode = code
})
