import type { Backend, BackendReport } from './backend.ts'

/** The same backend, with more to say of it. */
export const withReport = (backend: Backend, report: Partial<BackendReport>): Backend => ({
  ...backend,
  report: { ...backend.report, ...report },
})
