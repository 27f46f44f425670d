/** Flags of the WebGPU specification: Node has no globals of these names, and the numbers are the same everywhere. */
export const usage = {
  mapRead: 0x0001,
  copySource: 0x0004,
  copyDestination: 0x0008,
  storage: 0x0080,
  queryResolve: 0x0200,
} as const

export const computeStage = 0x4

export const mapModeRead = 0x1

/** `minStorageBufferOffsetAlignment` of every device that asks for no other: where a binding may begin. */
export const bindingAlignment = 256
