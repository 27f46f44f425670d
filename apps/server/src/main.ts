#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import process from 'node:process'
import { run } from './command/run.ts'

// Compiled code is kept between runs, where the platform allows: the second start is quicker.
enableCompileCache()

// An exit code, not process.exit(): what is still on its way into a pipe would be lost.
process.exitCode = await run(process.argv.slice(2))
