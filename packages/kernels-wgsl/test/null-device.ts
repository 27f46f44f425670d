import { create } from 'webgpu'

/** Kept for as long as tests run: one that Node collects takes its devices along, and whoever waits for them. */
const dawn = create(['backend=null'])

/** An adapter to devices that take all there is to take, and compute nothing. */
export const nullAdapter = async (): Promise<GPUAdapter> => {
  const adapter = await dawn.requestAdapter()
  if (!adapter) throw new Error('Dawn has no null adapter')
  return adapter
}
