import { writeFile } from 'node:fs/promises'
import { f32ToBf16, writeSafeTensors } from '@pocket/safetensors'
import { openFile } from '@pocket/safetensors/node'

const [, , path = 'linear.safetensors'] = process.argv

const weight = Float32Array.from({ length: 64 * 32 }, (_, i) => Math.sin(i) / 8)
await writeFile(
  path,
  writeSafeTensors({
    'linear.weight': { dtype: 'BF16', shape: [64, 32], data: f32ToBf16(weight) },
    'linear.bias': { dtype: 'F32', shape: [64], data: new Float32Array(64) },
    step: { dtype: 'I64', shape: [], data: BigInt64Array.of(1000n) },
  }),
)

await using file = await openFile(path)
console.log(`step ${(await file.i64('step'))[0]}`)
const { data, shape } = await file.f32('linear.weight')
const error = data.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (weight[i] ?? 0))), 0)
console.log(`linear.weight [${shape}]: BF16 is off by ${error.toFixed(5)} at most`)
