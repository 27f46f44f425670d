/**
 * What optional features of WebGPU would bring, on kernels of the shapes that a frame has: float16 arithmetic
 * (`shader-f16`), products of packed integers (`dot4I8Packed`), and words of a dispatch as immediates. These kernels are
 * no part of the executor; docs/decisions/015-features-of-webgpu.md says why. `node bench/features.ts [small]`
 */
import process from 'node:process'
import { noise } from '@tooling/fixtures'
import { create, globals } from 'webgpu'

Object.assign(globalThis, globals)

const dawn = create([
  'disable-dawn-features=timestamp_quantization',
  'enable-dawn-features=allow_unsafe_apis,vulkan_enable_f16_on_nvidia',
])
const adapter = await dawn.requestAdapter({ powerPreference: 'high-performance' })
if (!adapter) throw new Error('there is no GPU here')
const wanted: GPUFeatureName[] = ['shader-f16', 'subgroups', 'timestamp-query']
const requiredFeatures = wanted.filter((feature) => adapter.features.has(feature))
const device = await adapter.requestDevice({ requiredFeatures })
device.addEventListener('uncapturederror', ({ error }) => {
  throw error
})

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const small = process.argv.includes('small')
/** So many weights that they fit into no cache: as in a frame, each is read once. */
const copies = small ? 2 : 16
const repeats = 7

print(
  `${device.adapterInfo.description}: ${[...device.features].filter((name) => wanted.includes(name as GPUFeatureName)).join(', ')}; ` +
    `language features ${[...dawn.wgslLanguageFeatures].join(', ')}`,
)

interface Format {
  readonly name: string
  readonly feature?: GPUFeatureName
  readonly bytesPerWeight: number
  /** Bytes of a value of x. */
  readonly bytesPerInput: number
  readonly weightsPerVector: number
  readonly weights: string
  readonly x: string
  readonly sum: string
  /** The product of vector `w` with the inputs from `at` on, four of them to a step. */
  readonly product: string
}

const widened = 'vec4f(unpack4xI8'
const formats: readonly Format[] = [
  {
    name: 'bfloat16 × float32',
    bytesPerWeight: 2,
    bytesPerInput: 4,
    weightsPerVector: 8,
    weights: 'vec4u',
    x: 'vec4f',
    sum: 'f32',
    product:
      'dot(bitcast<vec4f>(w << vec4u(16u)), vec4f(x[at].xz, x[at + 1u].xz)) + dot(bitcast<vec4f>(w & vec4u(0xffff0000u)), vec4f(x[at].yw, x[at + 1u].yw))',
  },
  {
    name: 'float16, unpacked, × float32',
    bytesPerWeight: 2,
    bytesPerInput: 4,
    weightsPerVector: 8,
    weights: 'vec4u',
    x: 'vec4f',
    sum: 'f32',
    product:
      'dot(vec4f(unpack2x16float(w.x), unpack2x16float(w.y)), x[at]) + dot(vec4f(unpack2x16float(w.z), unpack2x16float(w.w)), x[at + 1u])',
  },
  {
    name: 'float16 × float16, float32 sums',
    feature: 'shader-f16',
    bytesPerWeight: 2,
    bytesPerInput: 2,
    weightsPerVector: 8,
    weights: 'vec4u',
    x: 'vec4<f16>',
    sum: 'f32',
    product:
      'f32(dot(vec4<f16>(bitcast<vec2<f16>>(w.x), bitcast<vec2<f16>>(w.y)), x[at])) + f32(dot(vec4<f16>(bitcast<vec2<f16>>(w.z), bitcast<vec2<f16>>(w.w)), x[at + 1u]))',
  },
  {
    name: 'eight bits × float32',
    bytesPerWeight: 1,
    bytesPerInput: 4,
    weightsPerVector: 16,
    weights: 'vec4u',
    x: 'vec4f',
    sum: 'f32',
    product: `dot(${widened}(w.x)), x[at]) + dot(${widened}(w.y)), x[at + 1u]) + dot(${widened}(w.z)), x[at + 2u]) + dot(${widened}(w.w)), x[at + 3u])`,
  },
  {
    name: 'eight bits × eight bits, dot4I8Packed',
    bytesPerWeight: 1,
    bytesPerInput: 1,
    weightsPerVector: 16,
    weights: 'vec4u',
    x: 'u32',
    sum: 'i32',
    product:
      'dot4I8Packed(w.x, x[at]) + dot4I8Packed(w.y, x[at + 1u]) + dot4I8Packed(w.z, x[at + 2u]) + dot4I8Packed(w.w, x[at + 3u])',
  },
  {
    name: 'eight bits × two digits of seven, dot4I8Packed',
    bytesPerWeight: 1,
    bytesPerInput: 2,
    weightsPerVector: 16,
    weights: 'vec4u',
    x: 'vec2u',
    sum: 'i32',
    product: ['x', 'y', 'z', 'w']
      .map((part, i) => {
        const at = `x[at + ${i}u]`
        return `128 * dot4I8Packed(w.${part}, ${at}.x) + dot4I8Packed(w.${part}, ${at}.y)`
      })
      .join(' + '),
  },
]

const slices = Math.min(32, device.adapterInfo.subgroupMinSize ?? 1)

const sourceOf = (format: Format, rows: number, outputs: number, inputs: number): string => {
  const all = Array.from({ length: rows }, (_, row) => row)
  const vectors = inputs / format.weightsPerVector
  const steps = format.weightsPerVector / 4
  return `${format.feature ? 'enable f16;' : ''} enable subgroups;
@group(0) @binding(0) var<storage, read> weights: array<${format.weights}>;
@group(0) @binding(1) var<storage, read> inputs: array<${format.x}>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
${all.map((row) => `fn product_${row}(w: vec4u, v: u32) -> ${format.sum} { let at = ${(row * inputs) / 4}u + v * ${steps}u; return ${format.product.replaceAll('x[', 'inputs[')}; }`).join('\n')}
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let output = group.x * ${64 / slices}u + thread / ${slices}u;
  ${all.map((row) => `var sum_${row} = ${format.sum}();`).join(' ')}
  for (var v = thread % ${slices}u; v < ${vectors}u; v += ${slices}u) {
    let w = weights[output * ${vectors}u + v];
    ${all.map((row) => `sum_${row} += product_${row}(w, v);`).join('\n    ')}
  }
  ${all
    .map((row) => {
      const steps = Array.from({ length: Math.log2(slices) }, (_, i) => 1 << i)
      const joined = steps.map((step) => `sum_${row} += subgroupShuffleXor(sum_${row}, ${step}u);`).join(' ')
      return `${joined} if (thread % ${slices}u == 0u) { out[${row * outputs}u + output] += f32(sum_${row}); }`
    })
    .join('\n  ')}
}
`
}

const storage = (bytes: number): GPUBuffer =>
  device.createBuffer({ size: bytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST })

const timer = () => {
  const querySet = device.createQuerySet({ type: 'timestamp', count: 2 })
  const resolved = device.createBuffer({
    size: 16,
    usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
  })
  return async (encode: (pass: GPUComputePassEncoder) => void): Promise<number> => {
    const staging = device.createBuffer({
      size: 16,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    })
    const encoder = device.createCommandEncoder()
    const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 }
    const pass = encoder.beginComputePass({ timestampWrites })
    encode(pass)
    pass.end()
    encoder.resolveQuerySet(querySet, 0, 2, resolved, 0)
    encoder.copyBufferToBuffer(resolved, 0, staging, 0, 16)
    device.queue.submit([encoder.finish()])
    await staging.mapAsync(GPUMapMode.READ)
    const [begin = 0n, end = 0n] = new BigUint64Array(staging.getMappedRange().slice(0))
    staging.destroy()
    return Number(end - begin) / 1000
  }
}

/** Microseconds a dispatch, each depending on the one before. */
const measureProducts = async (rows: number, outputs: number, inputs: number): Promise<void> => {
  print(`\n${rows} × ${inputs} → ${outputs}, µs a dispatch of dependent ones`)
  const time = timer()
  const cases = []
  for (const format of formats) {
    if (format.feature && !device.features.has(format.feature)) {
      print(`  ${'—'.padStart(7)}  ${format.name}: no ${format.feature}`)
      continue
    }
    const module = device.createShaderModule({ code: sourceOf(format, rows, outputs, inputs) })
    const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } })
    const x = storage(rows * inputs * format.bytesPerInput)
    const out = storage(rows * outputs * 4)
    const buffers = [x, out]
    const groups = Array.from({ length: copies }, () => {
      const weights = storage(outputs * inputs * format.bytesPerWeight)
      buffers.push(weights)
      const entries = [weights, x, out].map((buffer, binding) => ({ binding, resource: { buffer } }))
      return device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries })
    })
    cases.push({ format, pipeline, groups, buffers, times: [] as number[] })
  }
  for (let repeat = 0; repeat < repeats + 1; repeat++) {
    for (const { pipeline, groups, times } of cases) {
      const microseconds = await time((pass) => {
        pass.setPipeline(pipeline)
        for (const group of groups) {
          pass.setBindGroup(0, group)
          pass.dispatchWorkgroups((outputs * slices) / 64)
        }
      })
      if (repeat > 0) times.push(microseconds / groups.length)
    }
  }
  for (const { format, times, buffers } of cases) {
    print(`  ${median(times).toFixed(2).padStart(7)}  ${format.name}`)
    for (const buffer of buffers) buffer.destroy()
  }
}

/** How much rows of so many steps on either side of zero change products with weights of eight bits. */
const measureErrors = (): void => {
  const [outputs, inputs] = [256, 1024]
  // Sums of uniform values: bell-shaped, as normalised rows are.
  const bell = (length: number, seed: number): Float64Array =>
    Float64Array.from({ length }, (_, i) => {
      const parts = noise(12, seed + 31 * i)
      return parts.reduce((sum: number, part) => sum + part, 0) / 2
    })
  const quantised = (row: Float64Array, most: number): Float64Array => {
    const greatest = row.reduce((peak: number, value) => Math.max(peak, Math.abs(value)), 0)
    return row.map((value) => (Math.round((value * most) / greatest) * greatest) / most)
  }
  const x = bell(inputs, 1)
  const rows = Array.from({ length: outputs }, (_, output) => bell(inputs, 1e6 * (output + 1)))
  const product = (row: Float64Array, by: Float64Array): number =>
    row.reduce((sum, weight, i) => sum + weight * (by[i] ?? 0), 0)
  const exact = rows.map((row) => product(row, x))
  const kept = rows.map((row) => quantised(row, 127))
  const difference = (found: readonly number[]): string => {
    const size = exact.reduce((sum, value) => sum + value ** 2, 0)
    const error = exact.reduce((sum, value, i) => sum + (value - (found[i] ?? 0)) ** 2, 0)
    return Math.sqrt(error / size).toExponential(1)
  }
  print('\nrelative difference of products of 1024 from exact ones')
  print(`  ${difference(kept.map((row) => product(row, x)))}  weights of eight bits`)
  print(`  ${difference(kept.map((row) => product(row, quantised(x, 127))))}  and rows of eight bits`)
  print(`  ${difference(kept.map((row) => product(row, quantised(x, 8191))))}  and rows of fourteen bits`)
}

/** What a dispatch's words cost the host: from a buffer at a dynamic offset, or as immediates. */
const measureWords = async (): Promise<void> => {
  const dispatches = 72
  const rounds = small ? 20 : 400
  const out = storage(256)
  const control = storage(256 * dispatches)
  const visibility = GPUShaderStage.COMPUTE
  const outEntry: GPUBindGroupLayoutEntry = { binding: 0, visibility, buffer: { type: 'storage' } }
  const controlEntry: GPUBindGroupLayoutEntry = {
    binding: 1,
    visibility,
    buffer: { type: 'read-only-storage', hasDynamicOffset: true },
  }
  const main = '@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32)'
  const outDeclaration = '@group(0) @binding(0) var<storage, read_write> out: array<u32>;'
  const variants = [
    {
      name: 'a dynamic offset',
      entries: [outEntry, controlEntry],
      immediateSize: 0,
      code: `${outDeclaration} @group(0) @binding(1) var<storage, read> control: array<u32>; ${main} { out[i] += control[0]; }`,
    },
    {
      name: 'immediates',
      entries: [outEntry],
      immediateSize: 16,
      code: `requires immediate_address_space; ${outDeclaration} var<immediate> control: vec4u; ${main} { out[i] += control.x; }`,
    },
    {
      name: 'no words',
      entries: [outEntry],
      immediateSize: 0,
      code: `${outDeclaration} ${main} { out[i] += 1u; }`,
    },
  ]
  if (!dawn.wgslLanguageFeatures.has('immediate_address_space')) {
    print('\nno immediates here')
    return
  }
  const time = timer()
  const words = new Uint32Array(4)
  const cases = await Promise.all(
    variants.map(async ({ name, entries, immediateSize, code }) => {
      const layout = device.createBindGroupLayout({ entries })
      const pipeline = await device.createComputePipelineAsync({
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout], immediateSize }),
        compute: { module: device.createShaderModule({ code }) },
      })
      const resources = [{ buffer: out }, { buffer: control, size: 256 }]
      const group = device.createBindGroup({
        layout,
        entries: entries.map(({ binding }) => ({ binding, resource: resources[binding] ?? { buffer: out } })),
      })
      const encode = (pass: GPUComputePassEncoder): void => {
        pass.setPipeline(pipeline)
        for (let index = 0; index < dispatches; index++) {
          if (entries.length > 1) pass.setBindGroup(0, group, [256 * index])
          else pass.setBindGroup(0, group)
          if (immediateSize > 0) pass.setImmediates(0, words)
          pass.dispatchWorkgroups(1)
        }
      }
      return { name, encode, host: [] as number[], device: [] as number[] }
    }),
  )
  for (let round = 0; round < rounds; round++) {
    for (const one of cases) {
      const begin = performance.now()
      const encoder = device.createCommandEncoder()
      const pass = encoder.beginComputePass()
      one.encode(pass)
      pass.end()
      const commands = encoder.finish()
      one.host.push(1000 * (performance.now() - begin))
      device.queue.submit([commands])
      if (round % 20 === 0) one.device.push(await time(one.encode))
    }
  }
  print(`\n${dispatches} dispatches with words of their own: µs on the host to encode, µs on the device`)
  for (const one of cases) {
    print(
      `  ${median(one.host).toFixed(1).padStart(7)} ${median(one.device).toFixed(1).padStart(7)}  ${one.name}`,
    )
  }
}

measureErrors()
await measureWords()
for (const [rows, outputs, inputs] of [
  [1, 4096, 1024],
  [1, 1024, 4096],
  [8, 4096, 1024],
  [16, 2048, 512],
] as const) {
  await measureProducts(rows, small ? outputs / 16 : outputs, small ? inputs / 4 : inputs)
}
process.exit(0)
