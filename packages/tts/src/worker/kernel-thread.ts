import { serveJob } from '@pocket/kernels-cpu/kernel-thread'

// The script of a thread that the kernels in `browser-entry.js` start: they look for it beside themselves.
serveJob()
