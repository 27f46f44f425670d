import process from 'node:process'
import { openHub } from '../../../src/hub/node/index.ts'

/** A process that fetches one file and writes where it is: `node download-child.ts ENDPOINT CACHE PLACE`. */
const [endpoint, cacheDir, place = ''] = process.argv.slice(2)
const { file } = await openHub({ endpoint, cacheDir, token: false }).download(place)
process.stdout.write(String(file))
