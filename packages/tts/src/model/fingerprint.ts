import type { WeightReader } from '@pocket/nn'
import { Sha256 } from './sha256.ts'

/** Norms, biases and statistics are smaller than this, matrices larger. */
const largestTensorRead = 1 << 16

/**
 * SHA-256 that tells one language model from another, whatever its file or folder is called: over the names, dtypes
 * and shapes of all its tensors, and the bytes of the small ones (norms, biases, statistics). Training changes those
 * with everything else; reading only them leaves a file on disk mostly unread. The codec is left out, since a voice
 * does not depend on it and the checkpoints with and without voice cloning share their voices.
 */
export const fingerprint = async (weights: WeightReader): Promise<string> => {
  const hash = new Sha256()
  const encoder = new TextEncoder()
  const names = weights.names().filter((name) => name.startsWith('flow_lm.'))
  // By code units: the order of a file's tensors is up to whoever wrote it.
  for (const name of names.sort()) {
    const { dtype, shape, byteLength } = weights.info(name)
    hash.update(encoder.encode(`${name} ${dtype} [${shape.join(', ')}]\n`))
    if (byteLength <= largestTensorRead) hash.update(await weights.bytes(name))
  }
  return hash.hex()
}
