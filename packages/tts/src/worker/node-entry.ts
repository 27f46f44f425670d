import { parentPort } from 'node:worker_threads'
import { EngineServer } from './engine-server.ts'

if (!parentPort) throw new Error('this file is a worker; start it with loadInWorker()')
const port = parentPort
const server = new EngineServer({ post: (report, transfer) => port.postMessage(report, transfer) })
port.on('message', (command) => server.handle(command))
