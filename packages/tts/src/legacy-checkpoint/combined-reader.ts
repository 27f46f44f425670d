import {
  type NdArray,
  rowMajor,
  type SafeTensors,
  type TensorInfo,
  type TensorReader,
} from '@pocket/safetensors'
import { PocketTtsError } from '../errors.ts'
import { type Rename, renameFlowLm, renameMimi } from './names.ts'
import { foldWeightNorm } from './weight-norm.ts'

type Weights = SafeTensors | TensorReader

/** Where a tensor of the combined file comes from: one tensor, or the two halves of a weight norm. */
interface Origin {
  readonly file: Weights
  readonly name: string
  /** The length of each row, where the tensor is `name` with that taken out. */
  readonly gain: string | undefined
}

/**
 * A checkpoint of two files, the language model's and the codec's, as the combined file that it would be today: names
 * under `flow_lm.` and `mimi.`, training's tensors left out, weight norms folded. Nothing is read before it is asked
 * for, and nothing is kept. Either file may be a combined one, of which its network is taken.
 *
 * A folded tensor is F32 whatever its halves are. Throws PocketTtsError `invalid-model` for a weight norm with a half
 * missing or of a wrong shape, and for two tensors that come to one name.
 */
export const combineLegacyFiles = (flowLm: Weights, mimi: Weights): TensorReader => {
  const origins = new Map<string, Origin>()
  collect(origins, flowLm, 'flow_lm.', renameFlowLm)
  collect(origins, mimi, 'mimi.', renameMimi)
  return new CombinedReader(origins)
}

const directionSuffix = '.weight_v'
const gainSuffix = '.weight_g'

const collect = (origins: Map<string, Origin>, file: Weights, prefix: string, rename: Rename): void => {
  for (const { name, own } of namesWithin(file, prefix)) {
    // A gain goes with its direction.
    if (name.endsWith(gainSuffix) && file.has(directionOf(name))) continue
    const isFolded = name.endsWith(directionSuffix)
    const renamed = rename(isFolded ? own.replace(/_v$/, '') : own)
    if (renamed === undefined) continue
    const other = origins.get(prefix + renamed)
    if (other) throw invalid(`${other.name} and ${name} are both ${prefix + renamed}`)
    if (name.endsWith(gainSuffix)) throw invalid(`${name} has no ${directionOf(name)} beside it`)
    const gain = isFolded ? name.replace(/_v$/, '_g') : undefined
    if (gain !== undefined) checkHalves(file, name, gain)
    origins.set(prefix + renamed, { file, name, gain })
  }
}

/** The tensors of one network: all of its own file, or those under its prefix where a combined file is given. */
const namesWithin = (file: Weights, prefix: string): { name: string; own: string }[] => {
  const names = file.names()
  const prefixed = names.filter((name) => name.startsWith(prefix))
  if (prefixed.length === 0) return names.map((name) => ({ name, own: name }))
  return prefixed.map((name) => ({ name, own: name.slice(prefix.length) }))
}

const directionOf = (gain: string): string => gain.replace(/_g$/, '_v')

const checkHalves = (file: Weights, direction: string, gain: string): void => {
  if (!file.has(gain)) throw invalid(`${direction} has no ${gain} beside it`)
  const { shape } = file.info(direction)
  const expected = shape.map((size, axis) => (axis === 0 ? size : 1))
  const found = file.info(gain).shape
  if (shape.length > 0 && String(found) === String(expected)) return
  throw invalid(`${gain} is [${found.join(', ')}], expected [${expected.join(', ')}] beside ${direction}`)
}

const invalid = (problem: string): PocketTtsError =>
  new PocketTtsError('invalid-model', `the weights in two files: ${problem}`)

class CombinedReader implements TensorReader {
  /** Of neither file: it described what the file was, which is gone. */
  readonly metadata: Readonly<Record<string, string>> = Object.freeze({})
  readonly #origins: ReadonlyMap<string, Origin>

  constructor(origins: ReadonlyMap<string, Origin>) {
    this.#origins = origins
  }

  names(): string[] {
    return [...this.#origins.keys()]
  }

  has(name: string): boolean {
    return this.#origins.has(name)
  }

  info(name: string): TensorInfo {
    const { file, name: original, gain } = this.#origin(name)
    const info = file.info(original)
    if (gain === undefined) return info
    const count = info.shape.reduce((product, size) => product * size, 1)
    return { dtype: 'F32', shape: info.shape, byteLength: count * 4 }
  }

  async bytes(name: string): Promise<Uint8Array> {
    const origin = this.#origin(name)
    if (origin.gain === undefined) return origin.file.bytes(origin.name)
    const { data } = await this.f32(name)
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  }

  async f32(name: string): Promise<NdArray<Float32Array>> {
    const { file, name: original, gain } = this.#origin(name)
    const direction = await file.f32(original)
    if (gain === undefined) return direction
    const { data } = await file.f32(gain)
    const fail = (problem: string): Error => invalid(`${original}: ${problem}`)
    return rowMajor(foldWeightNorm(direction.data, data, fail), direction.shape)
  }

  async i64(name: string): Promise<BigInt64Array> {
    const { file, name: original } = this.#origin(name)
    return file.i64(original)
  }

  #origin(name: string): Origin {
    const origin = this.#origins.get(name)
    if (origin) return origin
    throw invalid(`there is no tensor ${name}`)
  }
}
