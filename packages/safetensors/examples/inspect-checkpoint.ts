import { openFile } from '@pocket/safetensors/node'

const [, , path = 'model.safetensors', wanted] = process.argv

await using file = await openFile(path) // reads the header, not the tensors
console.log(path, { ...file.metadata })
for (const name of file.names()) {
  const { dtype, shape, byteLength } = file.info(name)
  console.log(`${name}  ${dtype} [${shape}]  ${byteLength} bytes`)
}

if (wanted !== undefined) {
  const { data } = await file.f32(wanted) // reads this one tensor
  console.log(`${wanted} begins with ${data.slice(0, 4)}`)
}
