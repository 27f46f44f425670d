import { SafeTensors, writeSafeTensors } from '@pocket/safetensors'

const file = writeSafeTensors(
  {
    'linear.weight': { dtype: 'F32', shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
    'linear.bias': { dtype: 'BF16', shape: [2], data: Uint16Array.of(0x3f80, 0xc000) },
  },
  { format: 'pt' },
)

const tensors = SafeTensors.fromBytes(file)
console.log(tensors.metadata.format) // pt
for (const name of tensors.names()) {
  const { dtype, shape } = tensors.info(name)
  const { data } = tensors.f32(name) // row-major; a view of `file` where the tensor is F32
  console.log(`${name}: ${dtype} [${shape}] = ${data}`)
}
