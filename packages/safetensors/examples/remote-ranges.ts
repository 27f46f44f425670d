import { openSource } from '@pocket/safetensors'

const [, , url = 'http://localhost:8080/model.safetensors'] = process.argv

/** Any source of byte ranges will do; this one is a server that honours the Range header. */
const head = await fetch(url, { method: 'HEAD' })
const reader = await openSource({
  size: Number(head.headers.get('content-length')),
  read: async (offset, length) => {
    const range = `bytes=${offset}-${offset + length - 1}`
    const response = await fetch(url, { headers: { range } })
    if (response.status !== 206) throw new Error(`${url} answered ${response.status}: expected 206`)
    return new Uint8Array(await response.arrayBuffer())
  },
})

for (const name of reader.names()) console.log(name, reader.info(name).shape)
