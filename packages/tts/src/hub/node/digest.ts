import { createHash } from 'node:crypto'
import { type Checksum, type Digest, gitBlobHeader } from '../remote-file.ts'

export const createNodeDigest = ({ algorithm }: Checksum, size: number | undefined): Digest => {
  const hash = createHash(algorithm === 'sha256' ? 'sha256' : 'sha1')
  if (algorithm === 'git-sha1') hash.update(gitBlobHeader(size ?? 0))
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') }
}
