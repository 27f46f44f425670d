/** How a kernel reaches a buffer. `control` is read-only, of words that change from run to run. */
export type Access = 'read' | 'read_write' | 'control'

export interface Binding {
  readonly name: string
  readonly access: Access
}

/** A kernel: equal sources share a pipeline, whatever they are called. */
export interface Program {
  readonly name: string
  readonly source: string
  readonly bindings: readonly Binding[]
}

/** Storage buffers that every device can bind to one kernel: `maxStorageBuffersPerShaderStage`. */
export const mostBindings = 8

/** Declares a kernel's bindings in the order in which they are bound, so that the two cannot drift apart. */
export class Bindings {
  readonly list: Binding[] = []
  #declarations = ''

  /** A binding `name` of elements `type`. */
  add(name: string, type: string, access: Access = 'read'): void {
    const mode = access === 'read_write' ? 'read_write' : 'read'
    const index = this.list.push({ name, access }) - 1
    this.#declarations += `@group(0) @binding(${index}) var<storage, ${mode}> ${name}: array<${type}>;\n`
  }

  get declarations(): string {
    return this.#declarations
  }
}
