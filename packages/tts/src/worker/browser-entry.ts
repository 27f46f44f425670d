import { EngineServer } from './engine-server.ts'

const server = new EngineServer({ post: (report, transfer = []) => postMessage(report, { transfer }) })
addEventListener('message', ({ data }) => server.handle(data))
