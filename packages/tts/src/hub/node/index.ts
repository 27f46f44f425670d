import process from 'node:process'
import type { OpenHub } from '../hub.ts'
import { readSettings } from './environment.ts'
import { NodeHub } from './node-hub.ts'

/** Throws PocketTtsError `invalid-option` for options or variables that make no sense. */
export const openHub: OpenHub = (options = {}, tuning = {}) =>
  new NodeHub(readSettings(options, process.env), tuning)
