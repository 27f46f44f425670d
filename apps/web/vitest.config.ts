import { suite } from '@tooling/config/vitest'

// Each file has a browser of its own; one at a time keeps playback from starving on a small machine.
export default suite({ fileParallelism: false })
