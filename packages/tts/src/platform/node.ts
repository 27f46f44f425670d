import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { openFile } from '@pocket/safetensors/node'
import { PocketTtsError } from '../errors.ts'
import { fetchBytes, fetchWeights, tooLarge } from './fetch.ts'
import type { Platform, ReadOptions } from './platform.ts'

/** Node, Bun and Deno: files by path, everything else by fetch. */
export const platform: Platform = {
  toUrl(path, base) {
    if (base && base.protocol !== 'file:') return new URL(path, base)
    return pathToFileURL(base ? resolve(fileURLToPath(base), path) : resolve(path))
  },
  read: (url, options) => (url.protocol === 'file:' ? readWhole(url, options) : fetchBytes(url, options)),
  async openWeights(url, options) {
    if (url.protocol !== 'file:') return fetchWeights(url, options)
    const reader = await openFile(toPath(url))
    return { reader, close: () => reader.close() }
  },
  async list(folder) {
    if (folder.protocol !== 'file:') return undefined
    try {
      return await readdir(toPath(folder))
    } catch {
      return undefined
    }
  },
  mayHaveGpu: () =>
    process.platform !== 'linux' ||
    process.env.VK_DRIVER_FILES !== undefined ||
    gpuDevices.some((device) => existsSync(device)),
}

/**
 * What a GPU's driver makes on Linux: the kernel's own interface, NVIDIA's, and that of the Windows subsystem. Without
 * any, Vulkan would only complain on standard error.
 */
const gpuDevices = ['/dev/dri', '/dev/nvidiactl', '/dev/dxg']

const readWhole = async (url: URL, options: ReadOptions = {}): Promise<Uint8Array> => {
  const { signal, onBytes, maxBytes = Number.POSITIVE_INFINITY } = options
  const path = toPath(url)
  try {
    const found = await stat(path)
    // Devices and pipes say no size, and may have no end. Folders refuse to be read by themselves.
    if (!found.isFile() && !found.isDirectory()) throw new Error('it is no regular file')
    if (found.size > maxBytes) throw tooLarge(path, maxBytes)
    const file = await readFile(path, signal ? { signal } : {})
    onBytes?.(file.length, file.length)
    // Node hands small files out of a shared pool; a reader of theirs may want a buffer of its own.
    return new Uint8Array(file)
  } catch (cause) {
    signal?.throwIfAborted()
    if (cause instanceof PocketTtsError) throw cause
    throw new PocketTtsError('not-found', `${path} cannot be read: ${reason(cause)}`, { cause })
  }
}

const toPath = (url: URL): string => {
  try {
    return fileURLToPath(url)
  } catch (cause) {
    throw new PocketTtsError('not-found', `${url.href} is no path on this machine`, { cause })
  }
}

const reason = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  return cause.message
}
