import { serveJob } from './serve-job.ts'

serveJob()
