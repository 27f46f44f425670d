import type { Warning } from '../generate/utterance.ts'
import type { LoadOptions } from '../load-options.ts'
import type { Backend } from './backend.ts'
import { chooseBackend } from './choose-backend.ts'
import { type CpuOptions, loadCpuBackend } from './cpu-backend.ts'
import { loadGpuBackend, loadHybridBackend } from './gpu-backend.ts'
import { measureCpu } from './measure-cpu.ts'
import type { NetworkFiles } from './networks.ts'
import { openGpu } from './open-gpu.ts'
import { type LoadOnGpu, loadRemakeable } from './remakeable.ts'
import { withReport } from './report.ts'

/**
 * Both networks where the options want them. A GPU must first compute some frames as the CPU does; asked for by name
 * it is used or refused, under `auto` it is used where it is there, right and faster.
 *
 * Throws PocketTtsError `gpu-unavailable` or `gpu-refused` for backends asked for by name; what the networks throw.
 */
export const loadBackend = async (
  files: NetworkFiles,
  options: Pick<LoadOptions, 'backend' | 'lanes' | keyof CpuOptions>,
  onWarning: (warning: Warning) => void,
): Promise<Backend> => {
  const { backend = 'auto' } = options
  if (backend === 'cpu') return loadCpuBackend(files, options)
  if (backend === 'auto' && files.options.codecPrecision === 'int16') {
    const reason = 'codecPrecision int16 is computed on the CPU alone'
    return withReport(await loadCpuBackend(files, options), { reason })
  }
  if (backend === 'auto') return chooseBackend(files, options, onWarning)
  const gpu = await openGpu()
  const { cpu, expected } = await measureCpu(files, options, gpu)
  // Its memory is not wanted for more.
  cpu.dispose()
  const load: LoadOnGpu =
    backend === 'gpu'
      ? (...onto) => loadGpuBackend(...onto, expected, options.lanes)
      : (...onto) => loadHybridBackend(...onto, expected, options)
  return loadRemakeable(files, gpu, load, openGpu)
}
