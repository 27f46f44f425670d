import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCheckpoint, parseHubLocation } from '@pocket/tts'
import { readFixture } from '@tooling/fixtures'
import { HubServer } from '@tooling/fixtures/hub'
import { afterEach, beforeEach } from 'vitest'
import { finished, type Run, start } from './pocket.ts'

const fixture = (name: string): Uint8Array => readFixture(`tiny/tiny-24l/${name}`)
const openRepository = 'kyutai/pocket-tts-without-voice-cloning'

/** The tiny model of 24 layers, which the hub of the tests has in the place of the French one. */
export const french = {
  id: 'french_24l',
  weights: fixture('model.safetensors'),
  tokenizer: fixture('tokenizer.model'),
  voice: fixture('voices/voice-f32.safetensors'),
}

/** A hub on this machine and an empty cache, for every test. */
export const useHub = () => {
  let server: HubServer
  let cache = ''
  beforeEach(async () => {
    server = await HubServer.start()
    cache = mkdtempSync(join(tmpdir(), 'pocket-cli-hub-'))
  })
  afterEach(async () => {
    await server.stop()
    rmSync(cache, { recursive: true, force: true })
  })
  /** What sends a process to the hub of the test, whatever the environment of whoever runs it says. */
  const environment = (): Record<string, string> => ({
    HF_ENDPOINT: server.endpoint,
    HF_HUB_CACHE: cache,
    HF_HOME: join(cache, 'home'),
    ...Object.fromEntries(
      [
        ...['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN', 'HF_TOKEN_PATH', 'HF_HUB_OFFLINE'],
        ...['TRANSFORMERS_OFFLINE', 'HUGGINGFACE_HUB_CACHE'],
      ].map((name) => [name, '']),
    ),
  })
  return {
    get server() {
      return server
    },
    get cache() {
      return cache
    },
    environment,
    /** Runs the built command to its end; gives what it wrote as text. */
    async pocket(
      args: string[],
      env: Record<string, string> = {},
    ): Promise<Omit<Run, 'stdout'> & { stdout: string }> {
      const child = start(args, cache, { ...environment(), ...env })
      child.stdin?.end()
      const { stdout, ...rest } = await finished(child)
      return { ...rest, stdout: String(stdout) }
    },
    start: (args: string[]) => start(args, cache, environment()),
    publishFrench(): void {
      const { weights, weightsWithoutVoiceCloning, tokenizer } = findCheckpoint(french.id)
      server.gate('kyutai/pocket-tts')
      for (const [place, bytes] of [
        [weights, french.weights],
        [weightsWithoutVoiceCloning, french.weights],
        [tokenizer, french.tokenizer],
      ] as const) {
        const { owner, repo, path } = parseHubLocation(place)
        server.add(`${owner}/${repo}`, path, bytes)
      }
      for (const voice of ['estelle', 'alba']) {
        server.add(
          openRepository,
          `languages/${french.id}/embeddings/${voice}.safetensors`,
          french.voice,
          false,
        )
      }
    },
    /** Contents in the cache by name, those that are still coming included. */
    blobs(repository = openRepository): string[] {
      const folder = join(cache, `models--${repository.replace('/', '--')}`, 'blobs')
      return existsSync(folder) ? readdirSync(folder) : []
    },
    blobPath: (name: string): string =>
      join(cache, `models--${openRepository.replace('/', '--')}`, 'blobs', name),
  }
}
