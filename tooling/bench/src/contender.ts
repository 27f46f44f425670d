import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CodecArithmetic, KeptAs } from './full-work.ts'
import type { Answer, Commands, Request } from './protocol.ts'
import type { SubjectName } from './subject.ts'
import type { FloorSettings } from './subjects/floor.ts'

/** A row of the table: a subject, and what the table calls it. */
export interface Contender {
  readonly model: string
  readonly engine: string
  readonly subject: SubjectName
  /** How it keeps the weights of the model of full size; undefined for other models. */
  readonly kept?: KeptAs
  /** What its codec computes in, where `kept` is known. Default float32. */
  readonly codec?: CodecArithmetic
  /** The least that could be hoped for; undefined where vectors of 128 bits are no measure. */
  readonly floor?: FloorSettings
}

const child = fileURLToPath(new URL('../dist/child.js', import.meta.url))

/** The process of a contender. One call at a time. */
export class ContenderProcess {
  readonly #process: ChildProcess

  constructor() {
    this.#process = fork(child)
  }

  /** Rejects with what the process says, or with its end. */
  ask<Name extends keyof Commands>(
    command: Name,
    ...args: Parameters<Commands[Name]>
  ): ReturnType<Commands[Name]> {
    const answer = new Promise<unknown>((resolve, reject) => {
      const settle = (): void => {
        this.#process.off('message', take)
        this.#process.off('exit', end)
      }
      const take = (message: Answer): void => {
        settle()
        if ('error' in message) reject(new Error(message.error))
        else resolve(message.value)
      }
      const end = (code: number | null, signal: string | null): void => {
        settle()
        reject(new Error(`its process ended with ${signal ?? `code ${code}`}`))
      }
      this.#process.once('message', take).once('exit', end)
      this.#process.send({ command, args } satisfies Request)
    })
    return answer as ReturnType<Commands[Name]>
  }

  end(): void {
    this.#process.kill()
  }
}
