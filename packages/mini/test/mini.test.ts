import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { mini } from '@pocket/mini'
import { describe, expect, it } from 'vitest'

const files: Record<string, URL> = {
  'model.safetensors': mini.model,
  'tokenizer.model': mini.tokenizer,
  'config.yaml': mini.config,
  'embeddings/rms.safetensors': mini.voices.rms,
  'embeddings/awb.safetensors': mini.voices.awb,
  'embeddings/slt.safetensors': mini.voices.slt,
}
const card = readFileSync(fileURLToPath(new URL('../MODEL_CARD.md', import.meta.url)), 'utf8')

/** Tensor names and shapes from a safetensors header: 8 bytes of length, then JSON. */
const header = (url: URL): Record<string, { dtype: string; shape: number[] }> => {
  const bytes = readFileSync(url)
  const { __metadata__, ...tensors } = JSON.parse(
    bytes.toString('utf8', 8, 8 + Number(bytes.readBigUInt64LE(0))),
  )
  return tensors
}

describe('the files of the embedded model', () => {
  it.each(Object.entries(files))('%s is the file that the model card describes', (name, url) => {
    expect(url.protocol).toBe('file:')
    const digest = createHash('sha256').update(readFileSync(url)).digest('hex')
    expect(card).toMatch(new RegExp(`^\\| \`${name}\` +\\|.*${digest}`, 'm'))
  })

  it('has the weights of 6 + 2 transformer layers in BF16', () => {
    const tensors = header(mini.model)
    expect(Object.keys(tensors)).toHaveLength(198)
    expect(new Set(Object.values(tensors).map((tensor) => tensor.dtype))).toEqual(new Set(['BF16']))
    const parameters = Object.values(tensors).reduce(
      (sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1),
      0,
    )
    expect(parameters).toBe(7_828_026)
  })

  it.each(Object.entries(mini.voices))('%s is a KV cache of 6 layers, 4 heads of 64', (_name, url) => {
    const tensors = header(url)
    for (let layer = 0; layer < 6; layer++) {
      expect(tensors[`transformer.layers.${layer}.self_attn/cache`]).toMatchObject({
        dtype: 'F32',
        shape: [2, 1, 41, 4, 64],
      })
    }
  })

  it('knows its default voice', () => {
    expect(Object.keys(mini.voices)).toContain(mini.defaultVoice)
  })
})
