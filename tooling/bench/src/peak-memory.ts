import { readFileSync } from 'node:fs'
import process from 'node:process'

/**
 * The most that this process ever held, in bytes. Linux's `maxRSS` would not do: a program begins with that of the
 * process that started it.
 */
export const peakMemory = (): number => {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
