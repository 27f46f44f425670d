import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { accessPage, checkpoints, publishedRepositories } from '../../src/catalogue/checkpoints.ts'
import {
  findCheckpoint,
  looksLikeCheckpointId,
  lookUpCheckpoint,
} from '../../src/catalogue/find-checkpoint.ts'
import { predefinedVoices, voiceLocation } from '../../src/catalogue/voices.ts'
import { isCommit, parseHubLocation } from '../../src/hub/location.ts'
import { checkConfigFile } from '../../src/model/config-schema.ts'

describe('every checkpoint', () => {
  const names = checkpoints.flatMap(({ id, aliases }) => [id, ...aliases])

  it('has a name of its own', () => {
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(looksLikeCheckpointId(name)).toBe(true)
  })

  it.each(checkpoints)('$id is pinned, in the right repositories', (checkpoint) => {
    const { id, weights, weightsWithoutVoiceCloning, tokenizer } = checkpoint
    const [gated, open, pieces] = [weights, weightsWithoutVoiceCloning, tokenizer].map(parseHubLocation)
    for (const location of [gated, open, pieces]) expect(isCommit(location!.revision)).toBe(true)
    expect(gated).toMatchObject({ owner: 'kyutai', repo: 'pocket-tts' })
    expect(open).toMatchObject({ owner: 'kyutai', repo: 'pocket-tts-without-voice-cloning' })
    expect(gated!.path).toBe(`languages/${id}/model.safetensors`)
    expect(open!.path).toBe(gated!.path)
    expect(pieces!.path).toMatch(/tokenizer\.model$/)
  })

  it.each(checkpoints)('$id has a default voice, and all others', (checkpoint) => {
    expect(Object.keys(predefinedVoices)).toContain(checkpoint.defaultVoice)
    for (const name of Object.keys(predefinedVoices)) {
      const { path, revision } = parseHubLocation(voiceLocation(checkpoint, name))
      expect(path).toBe(`languages/${checkpoint.id}/embeddings/${name}.safetensors`)
      expect(isCommit(revision)).toBe(true)
    }
  })

  it.each(checkpoints)('$id has a config that is one, a temperature and a sentence', (checkpoint) => {
    const { id, config, layers, defaultTemperature, defaultSentence } = checkpoint
    expect(checkConfigFile(config, id)).toEqual(config)
    expect(config.flow_lm?.transformer?.num_layers).toBe(layers)
    expect(id.endsWith('_24l')).toBe(layers === 24)
    expect(config.default_temperature).toBe(defaultTemperature)
    expect(defaultSentence.length).toBeGreaterThan(20)
  })
})

describe('the flags', () => {
  it('are those of the reference', () => {
    const flags = (id: string) => findCheckpoint(id).config
    expect(flags('english_2026-01')).toMatchObject({
      pad_with_spaces_for_short_inputs: true,
      flow_lm: { insert_bos_before_voice: false },
    })
    expect(flags('french_24l')).toMatchObject({
      remove_semicolons: true,
      model_recommended_frames_after_eos: 8,
      flow_lm: { insert_bos_before_voice: true },
    })
    const withoutSemicolons = checkpoints.filter(({ config }) => config.remove_semicolons)
    expect(withoutSemicolons.map(({ id }) => id)).toEqual(['french_24l', 'german', 'german_24l'])
  })

  it('of the tokenizer too: the first English one lies at the root', () => {
    expect(parseHubLocation(findCheckpoint('english_2026-01').tokenizer).path).toBe('tokenizer.model')
  })
})

describe('a look-up', () => {
  it('finds ids and aliases', () => {
    expect(findCheckpoint('german_24l').id).toBe('german_24l')
    expect(findCheckpoint('english').id).toBe('english_2026-09')
    expect(findCheckpoint('english_24l')).toBe(findCheckpoint('english_2026-09_24l'))
    expect(lookUpCheckpoint('klingon')).toBeUndefined()
  })

  it.each([
    ['french', /published with 24 layers only; its id is 'french_24l'/],
    ['dutch', /tokenizer\.json/],
    ['portugese', /did you mean portuguese\?/],
    ['English_2026-04', /did you mean english_2026-04\?/],
    ['', /Known are english, english_2026-09/],
    ['__proto__', /did you mean/],
  ])('of %s says what is known', (id, message) => {
    expect(() => findCheckpoint(id)).toThrow(
      expect.objectContaining({ name: 'PocketTtsError', code: 'unknown-model' }),
    )
    expect(() => findCheckpoint(id)).toThrow(message)
  })

  it.each(['cosete', 'constructor', '../alba'])('of the voice %s names the nearest', (name) => {
    const find = (): string => voiceLocation(findCheckpoint('english'), name)
    expect(find).toThrow(expect.objectContaining({ name: 'PocketTtsError', code: 'unknown-voice' }))
    expect(find).toThrow(name === 'cosete' ? /did you mean cosette\?/ : /did you mean/)
  })

  it.each(['./german', 'german.yaml', 'hf://a/b', 'C:\\german', 'a b', ''])('%j is no id', (text) => {
    expect(looksLikeCheckpointId(text)).toBe(false)
  })
})

describe('the page about models', () => {
  const page = readFileSync(new URL('../../docs/models.md', import.meta.url), 'utf8')
  const cells = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))

  it.each(checkpoints)('has a row for $id', ({ id, aliases, layers, defaultVoice }) => {
    const row = cells.find(([, name]) => name?.startsWith(`\`${id}\``))
    expect(row?.[1]).toBe([`\`${id}\``, ...aliases.map((alias) => `also \`${alias}\``)].join(', '))
    expect(row?.slice(3, 5)).toEqual([String(layers), `\`${defaultVoice}\``])
  })

  it('names every voice', () => {
    for (const name of Object.keys(predefinedVoices)) expect(page).toContain(`\`${name}\``)
  })
})

describe('the recordings', () => {
  it('are places on the hub', () => {
    for (const place of Object.values(predefinedVoices)) {
      const { owner, repo } = parseHubLocation(place)
      expect(publishedRepositories).toContain(`${owner}/${repo}`)
      expect(parseHubLocation(place)).toMatchObject({
        owner: 'kyutai',
        path: expect.stringMatching(/\.(wav|mp3)$/),
      })
    }
    expect(accessPage).toBe('https://huggingface.co/kyutai/pocket-tts')
  })
})
