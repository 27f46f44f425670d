import type { Activation } from '@pocket/nn'
import { type Addressing, rowStart } from '../addressing.ts'
import type { Capabilities } from '../capabilities.ts'
import { Bindings, type Program } from '../program.ts'
import { activated } from './activations.ts'
import { bindNorm, declareNorm, type RowNorm } from './norm.ts'
import { computeStatistics, declareStatistics, type NormStatistics } from './norm-statistics.ts'
import { doublings, enableSubgroups, shuffle, shuffledThreads, together } from './reduction.ts'
import { declareSourceActivations, keepHistory, type RowSource, type Windows } from './row-source.ts'
import type { Tile } from './tile.ts'
import { product, type WeightFormat, weightsPerVector, weightType } from './weight-format.ts'

/** `out = post(residual + scale ⊙ activation(row · weights + bias))` */
export interface Epilogue {
  readonly bias: boolean
  readonly activation: Activation
  readonly scale: number | 'vector' | Addressing
  readonly residual: Addressing | undefined
  readonly post: { readonly vector: boolean; readonly activation: Activation } | undefined
  readonly out: Addressing
}

export interface ProductSpec {
  readonly name: string
  /** Rows of all lanes. */
  readonly rows: number
  readonly outputs: number
  readonly format: WeightFormat
  /** Vectors of weights in a row of them. */
  readonly vectors: number
  readonly source: RowSource
  /** Where the source is a convolution's: what it keeps for the next run. */
  readonly windows: Windows | undefined
  readonly norm: RowNorm | undefined
  readonly epilogue: Epilogue
  readonly tile: Tile
}

export interface Kernel {
  readonly program: Program
  readonly groups: readonly [number, number, number]
}

/**
 * Rows times weights, the one kernel behind linear layers and convolutions. A thread holds a few sums and walks every
 * `slices`-th vector of their weights, so that neighbours read neighbours and many loads are under way; the slices are
 * then added up, through subgroups where their size allows.
 */
export const productKernel = (spec: ProductSpec, capabilities: Capabilities): Kernel => {
  const { tile, rows, outputs, windows } = spec
  const places = tile.threads / tile.slices
  const groupRows = tile.rows * tile.rowPlaces
  const groupOutputs = tile.outputs * (places / tile.rowPlaces)
  const outputGroups = Math.ceil(outputs / groupOutputs)
  const rowGroups = Math.ceil(rows / groupRows)
  const bindings = new Bindings()
  const body = new ProductSource(spec, capabilities, bindings, { groupRows, groupOutputs })
  const keeps = windows !== undefined && windows.history > 0
  const source = `${enableSubgroups(capabilities)}${body.declare()}
@compute @workgroup_size(${tile.threads})
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
${keeps ? keepingGroups(windows, rowGroups, outputGroups, tile.threads) : ''}${body.main()}}
`
  return {
    program: { name: spec.name, source, bindings: bindings.list },
    groups: [outputGroups, rowGroups + (keeps ? 1 : 0), 1],
  }
}

/** One row of workgroups more than the product needs writes the history. */
const keepingGroups = (windows: Windows, rowGroups: number, outputGroups: number, threads: number): string =>
  `  if (workgroup.y == ${rowGroups}u) {
    ${keepHistory(windows, `${outputGroups * threads}u`, `workgroup.x * ${threads}u + thread`)}
    return;
  }
`

class ProductSource {
  readonly #spec: ProductSpec
  readonly #capabilities: Capabilities
  readonly #bindings: Bindings
  readonly #groupRows: number
  readonly #groupOutputs: number
  readonly #statistics: NormStatistics | undefined

  constructor(
    spec: ProductSpec,
    capabilities: Capabilities,
    bindings: Bindings,
    { groupRows, groupOutputs }: { groupRows: number; groupOutputs: number },
  ) {
    this.#spec = spec
    this.#capabilities = capabilities
    this.#bindings = bindings
    this.#groupRows = groupRows
    this.#groupOutputs = groupOutputs
    this.#statistics = spec.norm && {
      rows: groupRows,
      columns: spec.source.inputs,
      threads: spec.tile.threads,
      eps: spec.norm.eps,
    }
  }

  declare(): string {
    const { source, epilogue, format, norm } = this.#spec
    const bindings = this.#bindings
    bindings.add('weights', weightType[format])
    source.bind(bindings)
    if (epilogue.bias || format === 'int8') bindings.add('terms', 'f32')
    if (norm) bindNorm(bindings, norm, source.inputs)
    if (typeof epilogue.scale !== 'number') bindings.add('scale', 'f32')
    if (epilogue.residual) bindings.add('residual', 'f32')
    if (epilogue.post?.vector) bindings.add('post_vector', 'f32')
    bindings.add('out', 'f32', 'read_write')
    return [
      bindings.declarations,
      declareSourceActivations(source, epilogue.activation, epilogue.post?.activation ?? 'none'),
      source.declarations,
      this.#statistics ? declareStatistics(this.#capabilities, this.#statistics) : '',
      norm ? declareNorm(norm, source.inputs, this.#reach) : '',
      this.#declareStore(),
      this.#declarePartials(),
    ].join('')
  }

  main(): string {
    const { tile } = this.#spec
    const { slices, rowPlaces } = tile
    const { before, turn } = this.#accumulate()
    return `  let first_row = workgroup.y * ${this.#groupRows}u;
  let first_output = workgroup.x * ${this.#groupOutputs}u;
  let slice = thread % ${slices}u;
  let place = thread / ${slices}u;
  let row_place = place % ${rowPlaces}u * ${tile.rows}u;
  let output_place = place / ${rowPlaces}u * ${tile.outputs}u;
${this.#prepareWeights()}${before}${this.#findStatistics()}${this.#prepareRows()}${turn}${this.#join()}`
  }

  #findStatistics(): string {
    const { source, rows } = this.#spec
    if (!this.#statistics) return ''
    return computeStatistics(
      this.#statistics,
      rows - 1,
      (name, row) => source.prepare(name, row),
      (name, k) => source.load(name, k),
    )
  }

  get #reach(): number {
    const { vectors, format } = this.#spec
    return vectors * weightsPerVector[format]
  }

  /** `store(row, output, sum)`: the epilogue. */
  #declareStore(): string {
    const { rows, outputs, format, epilogue } = this.#spec
    const { bias, activation, scale, residual, post, out } = epilogue
    const lines: string[] = []
    if (rows % this.#groupRows !== 0) lines.push(`if (row >= ${rows}u) { return; }`)
    if (outputs % this.#groupOutputs !== 0) lines.push(`if (output >= ${outputs}u) { return; }`)
    lines.push('var value = sum;')
    if (format === 'int8') lines.push(`value *= terms[${outputs}u + output];`)
    if (bias) lines.push('value += terms[output];')
    if (activation !== 'none') lines.push(`value = ${activated(activation, 'value')};`)
    if (scale === 'vector') lines.push('value *= scale[output];')
    else if (typeof scale === 'object') lines.push(`value *= scale[${rowStart(scale, 'row')} + output];`)
    else if (scale !== 1) lines.push(`value *= ${literal(scale)};`)
    if (residual) lines.push(`value += residual[${rowStart(residual, 'row')} + output];`)
    if (post?.vector) lines.push('value += post_vector[output];')
    if (post && post.activation !== 'none') lines.push(`value = ${activated(post.activation, 'value')};`)
    lines.push(`out[${rowStart(out, 'row')} + output] = value;`)
    return `fn store(row: u32, output: u32, sum: f32) {\n  ${lines.join('\n  ')}\n}\n`
  }

  #declarePartials(): string {
    const { tile } = this.#spec
    if (this.#shuffled === tile.slices) return ''
    const length = this.#partsOfAll * Math.min(tile.rows * tile.outputs, this.#batch)
    return `var<workgroup> partials: array<f32, ${length}>;\n`
  }

  /** Threads that join their slices through a subgroup. */
  get #shuffled(): number {
    return shuffledThreads(this.#capabilities, this.#spec.tile.slices)
  }

  /** Parts of one sum in all places of the workgroup. */
  get #partsOfAll(): number {
    return this.#spec.tile.threads / this.#shuffled
  }

  /** Sums of a thread that are joined in workgroup memory at a time: half of the 16 KiB that every device has. */
  get #batch(): number {
    return Math.max(1, Math.floor(2048 / this.#partsOfAll))
  }

  #prepareRows(): string {
    const { tile, source, rows } = this.#spec
    const lines: string[] = []
    const lastRow = rows % this.#groupRows === 0 ? undefined : rows - 1
    for (let m = 0; m < tile.rows; m++) {
      const row = `first_row + row_place + ${m}u`
      lines.push(`let row_${m} = ${lastRow === undefined ? row : `min(${row}, ${lastRow}u)`};`)
      lines.push(source.prepare(String(m), `row_${m}`))
      if (this.#statistics) lines.push(`let own_${m} = statistics[row_place + ${m}u];`)
    }
    for (const { name } of this.#sums()) lines.push(`var ${name} = 0.0;`)
    return indent(lines)
  }

  #prepareWeights(): string {
    const { tile, outputs, vectors } = this.#spec
    const lines: string[] = []
    const lastOutput = outputs % this.#groupOutputs === 0 ? undefined : outputs - 1
    for (let n = 0; n < tile.outputs; n++) {
      const output = `first_output + output_place + ${n}u`
      const clamped = lastOutput === undefined ? output : `min(${output}, ${lastOutput}u)`
      lines.push(`let weights_${n} = (${clamped}) * ${vectors}u;`)
    }
    return indent(lines)
  }

  #sums(): { name: string; m: number; n: number }[] {
    const { tile } = this.#spec
    const sums: { name: string; m: number; n: number }[] = []
    for (let m = 0; m < tile.rows; m++) {
      for (let n = 0; n < tile.outputs; n++) sums.push({ name: `sum_${m}_${n}`, m, n })
    }
    return sums
  }

  /**
   * The loop over the weights. Where it is one turn its loads come `before` the rows are looked at: they take longest,
   * and nothing that happens to the rows has to wait for them.
   */
  #accumulate(): { before: string; turn: string } {
    const { tile, vectors } = this.#spec
    const { slices } = tile
    const { tuning } = this.#capabilities
    const loop = (step: number, at: readonly string[]): string => {
      const body = indent([...this.#loads(at), ...this.#products(at)], 4)
      return `  for (var v = slice; v < ${vectors}u; v += ${step}u) {\n${body}  }\n`
    }
    if (vectors % slices !== 0) return { before: '', turn: loop(slices, ['v']) }
    const steps = vectors / slices
    const most = tile.rows * tile.outputs > 4 ? Math.ceil(tuning.unroll / 2) : tuning.unroll
    const unroll = unrolled(steps, most)
    const at = (v: string): string[] => Array.from({ length: unroll }, (_, u) => `(${v} + ${u * slices}u)`)
    if (unroll < steps) return { before: '', turn: loop(unroll * slices, at('v')) }
    return { before: indent(this.#loads(at('slice'))), turn: indent(this.#products(at('slice'))) }
  }

  #loads(at: readonly string[]): string[] {
    const outputs = Array.from({ length: this.#spec.tile.outputs }, (_, n) => n)
    return at.flatMap((v, u) => outputs.map((n) => `let w_${u}_${n} = weights[weights_${n} + ${v}];`))
  }

  /** The products of the vectors of weights that have been loaded. */
  #products(at: readonly string[]): string[] {
    const { tile, format, source, norm } = this.#spec
    const perVector = weightsPerVector[format]
    const lines: string[] = []
    at.forEach((v, u) => {
      for (let m = 0; m < tile.rows; m++) {
        const x: string[] = []
        for (let q = 0; q < perVector / 4; q++) {
          const name = `x_${u}_${m}_${q}`
          const k = `${perVector}u * ${v} + ${4 * q}u`
          const raw = source.load(String(m), k)
          lines.push(`let ${name} = ${norm ? `normalise(row_${m}, ${k}, ${raw}, own_${m})` : raw};`)
          x.push(name)
        }
        for (let n = 0; n < tile.outputs; n++) {
          lines.push(`sum_${m}_${n} += ${product(format, `w_${u}_${n}`, x)};`)
        }
      }
    })
    return lines
  }

  /** Adds the slices up and stores: each sum by one thread. */
  #join(): string {
    const { slices } = this.#spec.tile
    const shuffles = this.#sums().map(({ name }) => shuffle(name, this.#shuffled))
    if (this.#shuffled < slices) return indent([...shuffles, ...this.#joinInMemory(slices)])
    const stores = this.#sums().map(
      ({ name, m, n }, index) => `if (slice == ${index % slices}u) { ${this.#storeOwn(name, m, n)} }`,
    )
    return indent([...shuffles, ...stores])
  }

  #storeOwn(name: string, m: number, n: number): string {
    return `store(first_row + row_place + ${m}u, first_output + output_place + ${n}u, ${name});`
  }

  #joinInMemory(slices: number): string[] {
    const { threads } = this.#spec.tile
    const places = threads / slices
    const shuffled = this.#shuffled
    const length = this.#partsOfAll
    const sums = this.#sums()
    const lines: string[] = []
    for (let first = 0; first < sums.length; first += this.#batch) {
      const batch = sums.slice(first, first + this.#batch)
      const parts = batch.map(
        ({ name }, index) => `partials[${index * length}u + thread / ${shuffled}u] = ${name};`,
      )
      if (first > 0) lines.push('workgroupBarrier();')
      lines.push(...(shuffled > 1 ? [`if (thread % ${shuffled}u == 0u) {`, ...parts, '}'] : parts))
      lines.push('workgroupBarrier();')
      if (shuffled === 1) lines.push(...this.#joinNeighbours(slices, batch.length))
      lines.push(
        `for (var i = thread; i < ${places * batch.length}u; i += ${threads}u) {`,
        `  let begin = i / ${places}u * ${length}u + i % ${places}u * ${slices / shuffled}u;`,
        `  let sum = ${shuffled === 1 ? 'partials[begin]' : partsFrom('begin', slices / shuffled)};`,
        `  ${this.#storePlaced(`i % ${places}u`, `${first}u + i / ${places}u`)}`,
        '}',
      )
    }
    return lines
  }

  /** Without subgroups a sum has as many parts as slices: too many for one thread to add. */
  #joinNeighbours(slices: number, count: number): string[] {
    const { threads } = this.#spec.tile
    const at = (index: number): string => `partials[${index * threads}u + thread`
    return doublings(slices).flatMap((step) => [
      `if (slice % ${2 * step}u == 0u) {`,
      ...Array.from({ length: count }, (_, index) => `  ${at(index)}] += ${at(index)} + ${step}u];`),
      '}',
      'workgroupBarrier();',
    ])
  }

  /** Stores `sum` for sum number `index` of a place of the workgroup. */
  #storePlaced(place: string, index: string): string {
    const { rows, outputs, rowPlaces } = this.#spec.tile
    return (
      `store(first_row + (${place}) % ${rowPlaces}u * ${rows}u + (${index}) / ${outputs}u, ` +
      `first_output + (${place}) / ${rowPlaces}u * ${outputs}u + (${index}) % ${outputs}u, sum);`
    )
  }
}

/** The parts of a sum together, which stand side by side. */
const partsFrom = (begin: string, count: number): string =>
  together(Array.from({ length: count }, (_, index) => `partials[${begin} + ${index}u]`))

/** Vectors of weights per turn of the loop: all of them where they are few, else `most` or what divides them evenly. */
const unrolled = (steps: number, most: number): number => {
  if (steps <= 2 * most) return steps
  for (let count = most; count > 1; count--) if (steps % count === 0) return count
  return 1
}

const literal = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value))

const indent = (lines: readonly string[], spaces = 2): string =>
  lines.map((line) => `${' '.repeat(spaces)}${line}\n`).join('')
