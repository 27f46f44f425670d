import { Sha256 } from '../../model/sha256.ts'
import { type Checksum, type Digest, gitBlobHeader } from '../remote-file.ts'

/** What can be hashed here: SHA-1 comes from the browser, which has it on securely served pages only. */
export const canHash = ({ algorithm }: Checksum): boolean =>
  algorithm === 'sha256' || globalThis.crypto?.subtle !== undefined

export const createBrowserDigest = ({ algorithm }: Checksum, size: number | undefined): Digest =>
  algorithm === 'sha256' ? new Sha256() : new GitSha1(size ?? 0)

/** Of files that are in git itself, and so small: the browser wants all bytes at once. */
class GitSha1 implements Digest {
  readonly #pieces: Uint8Array<ArrayBuffer>[]

  constructor(size: number) {
    this.#pieces = [gitBlobHeader(size).slice()]
  }

  update(bytes: Uint8Array): void {
    this.#pieces.push(bytes.slice())
  }

  async hex(): Promise<string> {
    const bytes = await new Blob(this.#pieces).arrayBuffer()
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-1', bytes))
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}
