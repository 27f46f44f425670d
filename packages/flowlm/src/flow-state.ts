import type { Kernels, KvCache, NdArray, Operations, Plan, PlanOptions, Tensor } from '@pocket/nn'
import { type Backbone, recordStep, step } from './backbone.ts'
import type { FlowLmConfig } from './config.ts'
import { FlowLmError } from './errors.ts'
import { checkCount } from './input-checks.ts'
import { checkSnapshot, type KvSnapshot } from './kv-snapshot.ts'
import { PromptPass } from './prompt-pass.ts'
import { BackboneSnapshot, type CacheSource, copies, type SharedSnapshot } from './shared-snapshot.ts'

export interface FlowStateOptions {
  /** Starts from what another state has seen, such as a voice: copied from a snapshot, read where a shared one lies. */
  readonly adopt?: KvSnapshot | SharedSnapshot
  /** Positions to reserve, the adopted ones included. Default: those and 512 more. */
  readonly capacity?: number
  /**
   * What keeps and runs the state. Default: the model's executor; else another view of the same memory, such as one with
   * lanes, which then begin with `FlowLm.beginLane`.
   */
  readonly kernels?: Kernels
}

/** What one stream has said and heard so far. */
export interface FlowState {
  /** Positions seen: rows of prompts, and steps. */
  readonly position: number
  /** Positions that there is room for. */
  readonly capacity: number
  /** A copy of all positions seen. Throws FlowLmError `disposed`. */
  snapshot(): Promise<KvSnapshot>
  /**
   * A value of the last pass, `[time, features]`: `embed`, `layer.I`, `hidden` (each `[rows, dModel]`), after a step
   * also `eos` `[1, 1]` and `latent`, its input. A prompt runs in blocks of 512 rows, the last of which is read;
   * its last `layer.I` and `hidden` are computed anew at each call, since nothing else needs them.
   * Throws FlowLmError `tap` or `disposed`.
   */
  tap(name: string): Promise<NdArray<Float32Array>>
  /** Gives the memory back. A second call does nothing. */
  dispose(): void
}

/**
 * Room beyond the adopted positions unless the caller says otherwise: a chunk of 50 tokens may run to 234 frames
 * (`ceil((50 / 3 + 2) · 12.5)`), so 512 hold any usual chunk.
 */
const spareCapacity = 512

/** Rows of one prompt pass: a bound on memory. */
const mostRows = 512

/** What a state is a state of. */
export interface BackboneModel {
  readonly kernels: Kernels
  readonly backbone: Backbone
  readonly config: FlowLmConfig
  /** Rows that one pass may have, in descending order; undefined: any number up to a bound. */
  readonly promptRows: readonly number[] | undefined
}

/** The state of one stream: its KV caches and the plans bound to them. Passes are synchronous; only reads are awaited. */
export class BackboneState implements FlowState {
  readonly backbone: Backbone
  readonly capacity: number
  readonly #kernels: Kernels
  readonly #config: FlowLmConfig
  readonly #promptRows: readonly number[] | undefined
  readonly #caches: KvCache[] = []
  /** Made by the first step: whoever puts steps into a recording of their own needs none. */
  #step: Plan | undefined
  /** Of the numbers of rows that a pass may have, where they are few: made once, and run in any lane. */
  readonly #prompts = new Map<string, PromptPass>()
  /** The last pass: kept for its taps. */
  #last: Pick<Plan, 'taps' | 'read' | 'dispose'> | undefined
  #disposed = false

  constructor(model: BackboneModel, options: FlowStateOptions) {
    const { backbone, config, promptRows } = model
    const { kernels = model.kernels } = options
    const adopted = cacheSource(kernels, backbone, config, options.adopt)
    const { positions } = adopted
    const { capacity = positions + spareCapacity } = options
    checkCount('capacity', capacity)
    if (positions > capacity) throw capacityError(`the snapshot has ${positions} positions`, capacity)

    this.backbone = backbone
    this.capacity = capacity
    this.#kernels = kernels
    this.#config = config
    try {
      // Rows that fill up the last pass of a prompt take room, too.
      const room = capacity + Math.max(1, ...(promptRows ?? [])) - 1
      for (let layer = 0; layer < config.layers; layer++) this.#caches.push(adopted.cache(layer, room))
      // A pass that cannot be filled up may have any number of rows.
      this.#promptRows = this.#caches[0]?.rewind ? promptRows : undefined
    } catch (error) {
      for (const cache of this.#caches) cache.dispose()
      throw error
    }
  }

  get position(): number {
    return this.#caches[0]?.position ?? 0
  }

  /** Throws FlowLmError `disposed`, or `capacity` when fewer than `rows` positions are left. */
  checkRoom(rows: number, lane?: number): void {
    this.#checkAlive()
    const position = this.#positionOf(lane)
    if (position + rows <= this.capacity) return
    throw capacityError(`the state is at position ${position} and ${rows} more are asked for`, this.capacity)
  }

  /** Puts what a snapshot holds into one lane, in place of what was there. */
  loadLane(lane: number, snapshot: KvSnapshot | SharedSnapshot): void {
    this.#checkAlive()
    if (!('layers' in snapshot)) {
      const shared = ownSnapshot(snapshot, this.backbone)
      this.#caches.forEach((_, layer) => {
        shared.loadLane(layer, this.#lane(layer, lane))
      })
      return
    }
    checkSnapshot(snapshot, this.#config)
    snapshot.layers.forEach(({ k, v }, layer) => {
      this.#lane(layer, lane).load(k, v, snapshot.positions)
    })
  }

  /** Embeddings `[rows, dModel]` through the backbone, for what they leave in the caches, of one lane or of all. */
  prompt(embeddings: Float32Array, rows: number, lane?: number): void {
    this.checkRoom(rows, lane)
    const { dModel } = this.#config
    const end = this.#positionOf(lane) + rows
    const where = lane === undefined ? {} : { lane }
    for (let row = 0; row < rows; ) {
      const passRows = this.#passRows(rows - row)
      const given = Math.min(passRows, rows - row)
      this.#releaseLast()
      const pass = this.#promptPass(passRows, where)
      this.#last = pass
      pass.run(embeddings.subarray(row * dModel, (row + given) * dModel), given, where)
      row += given
    }
    if (this.#promptRows) this.#rewind(end, lane)
  }

  /** Where few numbers of rows occur, passes are kept: to make one takes longer than to run it. */
  #promptPass(rows: number, where: PlanOptions): PromptPass {
    const make = (): PromptPass => new PromptPass(this.#kernels, this.backbone, this.#caches, rows, where)
    if (!this.#promptRows) return make()
    const key = where.lane === undefined ? `${rows}` : `${rows} in a lane`
    const pass = this.#prompts.get(key) ?? make()
    this.#prompts.set(key, pass)
    return pass
  }

  #positionOf(lane: number | undefined): number {
    return lane === undefined ? this.position : this.#lane(0, lane).position
  }

  #rewind(position: number, lane: number | undefined): void {
    this.#caches.forEach((cache, layer) => {
      if (lane === undefined) cache.rewind?.(position)
      else this.#lane(layer, lane).rewind(position)
    })
  }

  #lane(layer: number, lane: number) {
    const found = this.#caches[layer]?.lane?.(lane)
    if (found) return found
    throw new FlowLmError('state', `the state has no lanes, and lane ${lane} was asked for`)
  }

  /** The fewest rows that hold all that are left, or the most there are. */
  #passRows(left: number): number {
    if (!this.#promptRows) return Math.min(left, mostRows)
    return this.#promptRows.findLast((rows) => rows >= left) ?? this.#promptRows[0] ?? 1
  }

  /** One step from the previous latent `[latentDim]`. */
  async step(latent: Float32Array): Promise<{ hidden: Float32Array; eosLogit: number }> {
    this.checkRoom(1)
    this.#releaseLast()
    this.#step ??= this.#kernels.plan(recordStep(this.backbone, this.#caches))
    const plan = this.#step
    this.#last = plan
    plan.write('latent', latent)
    plan.run()
    const [hidden, eos] = await Promise.all([plan.read('hidden'), plan.read('eos')])
    return { hidden: hidden.data, eosLogit: eos.data[0] ?? Number.NaN }
  }

  /** Puts one step into a recording of the caller's own; each of its runs advances this state. */
  describeStep(ops: Operations, latent: Tensor): { hidden: Tensor; eos: Tensor } {
    this.#checkAlive()
    return step(ops, latent, this.backbone, this.#caches)
  }

  async snapshot(): Promise<KvSnapshot> {
    this.#checkAlive()
    const { heads, headDim } = this.#config
    const { position } = this
    // All reads start now, so that they show one moment, whatever runs before they end.
    const layers = await Promise.all(this.#caches.map((cache) => cache.read()))
    return { positions: position, heads, headDim, layers }
  }

  async tap(name: string): Promise<NdArray<Float32Array>> {
    this.#checkAlive()
    const names = this.#last?.taps ?? []
    if (this.#last && names.includes(name)) return this.#last.read(name)
    const known = this.#last ? `the last pass has ${names.join(', ')}` : 'no pass has run yet'
    throw new FlowLmError('tap', `there is no tap ${name}: ${known}`)
  }

  dispose(): void {
    if (this.#disposed) return
    this.#disposed = true
    this.#releaseLast()
    this.#step?.dispose()
    for (const pass of this.#prompts.values()) pass.dispose()
    for (const cache of this.#caches) cache.dispose()
  }

  #releaseLast(): void {
    if (this.#last !== this.#step && !this.#promptRows) this.#last?.dispose()
    this.#last = undefined
  }

  #checkAlive(): void {
    if (this.#disposed)
      throw new FlowLmError('disposed', 'the state was disposed: make another with createState()')
  }
}

const cacheSource = (
  kernels: Kernels,
  backbone: Backbone,
  config: FlowLmConfig,
  adopt: FlowStateOptions['adopt'],
): CacheSource => {
  if (!adopt || 'layers' in adopt) {
    if (adopt) checkSnapshot(adopt, config)
    return copies(kernels, config, adopt)
  }
  return ownSnapshot(adopt, backbone)
}

const ownSnapshot = (adopt: SharedSnapshot, backbone: Backbone): BackboneSnapshot => {
  if (adopt instanceof BackboneSnapshot && adopt.backbone === backbone) return adopt
  throw new FlowLmError(
    'snapshot',
    'the shared snapshot was made by another model: make one with share() of this one',
  )
}

const capacityError = (wanted: string, capacity: number): FlowLmError =>
  new FlowLmError(
    'capacity',
    `${wanted}, but it has room for ${capacity}: pass createState() a larger capacity`,
  )
