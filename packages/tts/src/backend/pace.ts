import type { Pace } from '../sources/run-ahead.ts'

/** Nothing ahead of who listens. */
export const oneByOne: Pace = { framesPerSubmit: [1], inFlight: 1 }

/** The first sound comes alone, then fewer and fewer waits. More at once would be made in vain where speech ends. */
const ramp = [1, 1, 2, 4]

/** While one submit is computed the other waits: the GPU is never idle. */
const inFlight = 2

/** Half of a frame of a screen at 60 Hz: a page shares the GPU with what it draws. */
const longestOnPageMs = 8

/** A submit that takes seconds is ended by drivers; an abort waits for the one under way. */
const longestMs = 100

/** How far to run ahead when a frame takes `frameMs`. */
export const paceFor = (frameMs: number, onPage = 'document' in globalThis): Pace => {
  const most = Math.max(1, Math.floor((onPage ? longestOnPageMs : longestMs) / frameMs))
  return { framesPerSubmit: ramp.map((frames) => Math.min(frames, most)), inFlight }
}
