import type { Activation } from '@pocket/nn'
import { type Addressing, isVectorial, rowStart } from '../addressing.ts'
import type { Bindings } from '../program.ts'
import { activatedVector, declareActivations } from './activations.ts'

/** Where a product takes its rows from. `name` tells apart the rows that one thread holds at the same time. */
export interface RowSource {
  /** Values of a row. */
  readonly inputs: number
  /** Activations to declare. */
  readonly activation: Activation
  bind(bindings: Bindings): void
  readonly declarations: string
  /** WGSL statements that find row `row`, counted through all lanes. */
  prepare(name: string, row: string): string
  /** WGSL expression for values `k … k + 3` of a prepared row, `k` a multiple of four; zeros beyond the last value. */
  load(name: string, k: string): string
}

/** The rows of a tensor as they are. `reach` is how far loads may go: the inputs and the padding of the weights. */
export const tensorRows = (x: Addressing, reach: number): RowSource => {
  const vectorial = isVectorial(x)
  const { columns } = x
  const outside = reach > columns
  return {
    inputs: columns,
    activation: 'none',
    bind: (bindings) => bindings.add('x', vectorial ? 'vec4f' : 'f32'),
    declarations: vectorial ? vectorLoad(outside, columns) : scalarLoad(columns),
    prepare: (name, row) => `let start_${name} = ${rowStart(x, row)};`,
    load: (name, k) => `load_x(start_${name}, ${k})`,
  }
}

const vectorLoad = (outside: boolean, columns: number): string =>
  outside
    ? `fn load_x(start: u32, k: u32) -> vec4f { return select(vec4f(), x[(start + k) / 4u], k < ${columns}u); }\n`
    : 'fn load_x(start: u32, k: u32) -> vec4f { return x[(start + k) / 4u]; }\n'

const scalarLoad = (columns: number): string => `fn load_x(start: u32, k: u32) -> vec4f {
  var values = vec4f();
  for (var i = 0u; i < 4u; i++) { if (k + i < ${columns}u) { values[i] = x[start + k + i]; } }
  return values;
}
`

/** The rows that a convolution over time multiplies: windows of an input and of what came before it. */
export interface Windows {
  readonly lanes: number
  readonly x: Addressing
  /** Steps of one window, `step · dilation` rows apart. */
  readonly kernel: number
  readonly stride: number
  readonly dilation: number
  /** Rows that the state keeps. */
  readonly history: number
  readonly padding: 'zero' | 'replicate'
  readonly activation: Activation
  /** Output rows of a lane. */
  readonly rows: number
}

/** Words of a lane in a convolution's control block. */
const controlWords = 4

/** Bits of the first word: which of the state's two halves is read, and whether nothing came before. */
export const flags = { parity: 1, fresh: 2, active: 4 } as const

/** Float32 values of one half of a lane's state. */
export const historyLength = (history: number, channels: number): number =>
  Math.ceil((history * channels) / 4) * 4

export const windowRows = (windows: Windows, reach: number): RowSource => {
  const { x, kernel, history, activation } = windows
  const inputs = kernel * x.columns
  const vectorial = isVectorial(x)
  const access = isContiguous(windows) ? contiguousAccess(windows, reach) : steppedAccess(windows, reach)
  return {
    inputs,
    activation,
    bind: (bindings) => {
      bindings.add('x', vectorial ? 'vec4f' : 'f32')
      if (history === 0) return
      bindings.add('state', vectorial ? 'vec4f' : 'f32', 'read_write')
      bindings.add('control', 'u32', 'control')
    },
    declarations: [
      history > 0 ? declareState(windows) : '',
      declareAccess(windows, vectorial),
      access.declarations,
    ].join(''),
    prepare: access.prepare,
    load: access.load,
  }
}

type RowAccess = Pick<RowSource, 'declarations' | 'prepare' | 'load'>

/** Whether windows are stretches of memory: steps next to each other, rows without gaps, four values at a time. */
const isContiguous = ({ x, dilation, kernel }: Windows): boolean =>
  isVectorial(x) && x.rowStride === x.columns && (dilation === 1 || kernel === 1)

/**
 * Of a window that is a stretch, value k lies k behind the first. Those before `limit` are history, the others follow
 * `start` in x; where all are history, `start` wraps around and is not used.
 */
const contiguousAccess = (windows: Windows, reach: number): RowAccess => {
  const { x, rows, kernel, stride, history, activation } = windows
  const channels = x.columns
  const inputs = kernel * channels
  const fromX = activation === 'none' ? 'x[(start + k) / 4u]' : 'activate_window(x[(start + k) / 4u])'
  const guard = reach > inputs ? `  if (k >= ${inputs}u) { return vec4f(); }\n` : ''
  const activate =
    activation === 'none'
      ? ''
      : `fn activate_window(raw: vec4f) -> vec4f { return ${activatedVector(activation, 'raw')}; }\n`
  const first = (name: string): string =>
    `let lane_${name} = row_of_${name} / ${rows}u; let time_${name} = row_of_${name} % ${rows}u; ` +
    `let start_${name} = lane_${name} * ${x.laneStride}u + time_${name} * ${stride * channels}u + ${x.first}u`
  if (history === 0) {
    return {
      declarations: `${activate}fn load_window(start: u32, k: u32) -> vec4f {\n${guard}  return ${fromX};\n}\n`,
      prepare: (name, row) => `let row_of_${name} = ${row}; ${first(name)};`,
      load: (name, k) => `load_window(start_${name}, ${k})`,
    }
  }
  return {
    declarations: `${activate}fn load_window(lane: u32, time: u32, start: u32, limit: u32, past: u32, k: u32) -> vec4f {
${guard}  if (k >= limit) { return ${fromX}; }
  return row_value(lane, past, time * ${stride}u + k / ${channels}u, k % ${channels}u);
}
`,
    prepare: (name, row) =>
      `let row_of_${name} = ${row}; ${first(name)} - ${history * channels}u; ` +
      `let limit_${name} = (${history}u - min(${history}u, time_${name} * ${stride}u)) * ${channels}u; ` +
      `let past_${name} = past_of(lane_${name});`,
    load: (name, k) =>
      `load_window(lane_${name}, time_${name}, start_${name}, limit_${name}, past_${name}, ${k})`,
  }
}

/** Any window: each value by its row and channel. */
const steppedAccess = (windows: Windows, reach: number): RowAccess => {
  const { rows, kernel, x, history } = windows
  const inputs = kernel * x.columns
  return {
    declarations: isVectorial(x) ? vectorWindow(windows, inputs, reach) : scalarWindow(windows, inputs),
    prepare: (name, row) =>
      `let lane_${name} = (${row}) / ${rows}u; let time_${name} = (${row}) % ${rows}u;` +
      (history > 0 ? ` let past_${name} = past_of(lane_${name});` : ''),
    load: (name, k) => `load_window(lane_${name}, time_${name}, ${history > 0 ? `past_${name}, ` : ''}${k})`,
  }
}

/** `past_of` gives where a lane's history begins, in float32 values, or `no_past`. */
const declareState = ({ history, x }: Windows): string => {
  const half = historyLength(history, x.columns)
  return `const no_past = 0xffffffffu;
fn past_of(lane: u32) -> u32 {
  let word = control[${controlWords}u * lane];
  let start = (control[${controlWords}u * lane + 1u] * 2u + (word & ${flags.parity}u)) * ${half}u;
  return select(start, no_past, (word & ${flags.fresh}u) != 0u);
}
`
}

/** `row_value(lane, past, row, channel)`: rows below `history` are the state's, the others those of x, activated. */
const declareAccess = (windows: Windows, vectorial: boolean): string => {
  const { x, history, padding, activation } = windows
  const type = vectorial ? 'vec4f' : 'f32'
  const at = (index: string): string => (vectorial ? `(${index}) / 4u` : index)
  const fromX = (row: string): string => {
    const value = `x[${at(`${rowStart(x, `lane * ${x.rows}u + ${row}`)} + channel`)}]`
    if (activation === 'none') return `return ${value};`
    return `let raw = ${value}; return ${vectorial ? activatedVector(activation, 'raw') : `${activation}(raw)`};`
  }
  if (history === 0) {
    return `fn row_value(lane: u32, row: u32, channel: u32) -> ${type} { ${fromX('row')} }\n`
  }
  const before = padding === 'zero' ? `return ${type}();` : fromX('0u')
  return `fn row_value(lane: u32, past: u32, row: u32, channel: u32) -> ${type} {
  if (row >= ${history}u) { ${fromX(`(row - ${history}u)`)} }
  if (past == no_past) { ${before} }
  return state[${at(`past + row * ${x.columns}u + channel`)}];
}
`
}

const vectorWindow = (windows: Windows, inputs: number, reach: number): string => {
  const { x, kernel, stride, dilation, history } = windows
  const past = history > 0 ? ', past: u32' : ''
  const step = kernel === 1 ? '0u' : `k / ${x.columns}u`
  const guard = reach > inputs ? `  if (k >= ${inputs}u) { return vec4f(); }\n` : ''
  return `fn load_window(lane: u32, time: u32${past}, k: u32) -> vec4f {
${guard}  return row_value(lane, ${history > 0 ? 'past, ' : ''}time * ${stride}u + ${step} * ${dilation}u, k % ${x.columns}u);
}
`
}

const scalarWindow = (windows: Windows, inputs: number): string => {
  const { x, stride, dilation, history } = windows
  const past = history > 0
  return `fn load_window(lane: u32, time: u32${past ? ', past: u32' : ''}, k: u32) -> vec4f {
  var values = vec4f();
  for (var i = 0u; i < 4u; i++) {
    let at = k + i;
    if (at < ${inputs}u) {
      values[i] = row_value(lane, ${past ? 'past, ' : ''}time * ${stride}u + at / ${x.columns}u * ${dilation}u, at % ${x.columns}u);
    }
  }
  return values;
}
`
}

/**
 * WGSL for the workgroups that write what the next run will find as history: the last rows of history and x together,
 * into the half of the state that nobody reads in this run. Lanes at rest keep theirs.
 */
export const keepHistory = (windows: Windows, workers: string, worker: string): string => {
  const { lanes, x, history } = windows
  const step = isVectorial(x) ? 4 : 1
  const half = historyLength(history, x.columns)
  const each = (history * x.columns) / step
  const at = (index: string): string => (step === 4 ? `(${index}) / 4u` : index)
  return `for (var i = ${worker}; i < ${lanes * each}u; i += ${workers}) {
      let lane = i / ${each}u;
      let within = i % ${each}u * ${step}u;
      let word = control[${controlWords}u * lane];
      if ((word & ${flags.active}u) != 0u) {
        let next = (control[${controlWords}u * lane + 1u] * 2u + 1u - (word & ${flags.parity}u)) * ${half}u;
        let row = within / ${x.columns}u + ${x.rows}u;
        state[${at('next + within')}] = row_value(lane, past_of(lane), row, within % ${x.columns}u);
      }
    }`
}

export const declareSourceActivations = (source: RowSource, ...others: readonly Activation[]): string =>
  declareActivations(source.activation, ...others)
