import { createHash } from 'node:crypto'
import { PocketTts } from '@pocket/tts'
import { readFixture } from '@tooling/fixtures'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseConfigFile } from '../../src/model/config.ts'
import { checkConfigFile } from '../../src/model/config-schema.ts'
import { editDistance, nearest } from '../../src/model/nearest.ts'
import { Sha256 } from '../../src/model/sha256.ts'
import { refusal } from '../support/errors.ts'
import { fastest } from '../support/levels.ts'
import { rewrite, tinyParts } from '../support/tiny.ts'

const yaml = (name: string): string => new TextDecoder().decode(readFixture(`tiny/${name}/config.yaml`))
const parseText = (text: string) => parseConfigFile(new TextEncoder().encode(text), 'config.yaml')
const check = (value: unknown) => checkConfigFile(value, 'config.yaml')

/** The tiny model with its config file changed. */
const load = async (from: string | RegExp, to: string): Promise<PocketTts> => {
  const original = yaml('tiny-2026-04')
  const text = original.replace(from, to)
  expect(text).not.toBe(original)
  return PocketTts.load({ ...tinyParts, config: new TextEncoder().encode(text) }, { simd: fastest })
}

describe('config files', () => {
  test.each(['tiny-2026-04', 'tiny-2026-01', 'tiny-24l'])(
    "%s is read as the reference's schema has it",
    async (name) => {
      expect(await parseText(yaml(name))).toEqual(parse(yaml(name)))
    },
  )

  test('an unknown key is refused with the nearest known one, here or elsewhere', async () => {
    await refusal(
      () => check({ remove_semicolon: true }),
      'invalid-model',
      '"remove_semicolon"',
      'is remove_semicolons',
    )
    const transformer = (keys: object) => () => check({ flow_lm: { transformer: keys } })
    await refusal(
      transformer({ d_modle: 1 }),
      'invalid-model',
      'flow_lm.transformer.d_modle',
      /known key is flow_lm\.transformer\.d_model$/,
    )
    await refusal(transformer({ context: 1 }), 'invalid-model', /known key is mimi\.transformer\.context$/)
    await refusal(() => check({ ratios: [6] }), 'invalid-model', /known key is mimi\.seanet\.ratios$/)
    await refusal(() => check({ toString: 1 }), 'invalid-model')
    await refusal(() => check({ ['x'.repeat(1e6)]: 1 }), 'invalid-model', 'xxx…')
  })

  test('a value of the wrong kind is refused with its key', async () => {
    await refusal(
      () => check({ remove_semicolons: 'yes' }),
      'invalid-model',
      'remove_semicolons is "yes"',
      'true or false',
    )
    await refusal(() => check({ default_temperature: -1 }), 'invalid-model', 'default_temperature is -1')
    await refusal(() => check({ model_recommended_frames_after_eos: 1.5 }), 'invalid-model', 'whole number')
    await refusal(
      () => check({ mimi: { seanet: { ratios: [6, 0] } } }),
      'invalid-model',
      'mimi.seanet.ratios is [6,0]',
    )
    await refusal(() => check({ mimi: 3 }), 'invalid-model', 'mimi is 3')
    await refusal(() => check({ weights_path: '' }), 'invalid-model', 'weights_path')
  })

  test('null says nothing', () => {
    expect(check({ model_recommended_frames_after_eos: null, flow_lm: null })).toEqual({})
  })

  test('what is no YAML, no map, no text or a bomb is refused', async () => {
    await refusal(parseText('a: [1'), 'invalid-model', 'no YAML')
    await refusal(parseText('just text'), 'invalid-model', 'expected keys')
    await refusal(parseText(''), 'invalid-model')
    await refusal(parseConfigFile(Uint8Array.of(0xff, 0xfe), 'c'), 'invalid-model')
    const levels = Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}]`)
    await refusal(parseText(['a0: &a0 [x]', ...levels].join('\n')), 'invalid-model')
  })

  test('law: any object is a config or a refusal', async () => {
    const keys = fc.constantFrom(
      'flow_lm',
      'mimi',
      'transformer',
      'd_model',
      'weights_path',
      '__proto__',
      'ratios',
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, fc.anything(), fc.dictionary(keys, tie('tree'))),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        try {
          check(value)
        } catch (error) {
          expect(error).toMatchObject({ name: 'PocketTtsError', code: 'invalid-model' })
        }
      }),
    )
  })
})

test('a value that no message can hold is refused all the same', async () => {
  await refusal(parseText('weights_path: &a [*a]'), 'invalid-model', 'weights_path is a nested value')
  await refusal(() => check({ mimi: { seanet: { ratios: [1n] } } }), 'invalid-model', 'mimi.seanet.ratios')
})

describe('a config that contradicts the weights names key and tensor', () => {
  test.each([
    [
      'd_model: 128',
      'd_model: 256',
      'flow_lm.transformer.d_model 256',
      'flow_lm.conditioner.embed.weight [1001, 128]',
    ],
    [
      'num_layers: 3',
      'num_layers: 4',
      'flow_lm.transformer.num_layers 4',
      'flow_lm.transformer.layers.2.linear1',
    ],
    ['n_bins: 1000', 'n_bins: 4000', 'flow_lm.lookup_table.n_bins 4000', 'says 1000'],
    ['hidden_scale: 4', 'hidden_scale: 2', 'flow_lm.transformer.hidden_scale 2', 'linear1.weight [512, 128]'],
    ['depth: 2', 'depth: 6', 'flow_lm.flow.depth 6', 'flow_lm.flow_net.res_blocks.1'],
    ['    dim: 64', '    dim: 32', 'flow_lm.flow.dim 32', 'flow_lm.flow_net.input_proj.weight'],
    ['    - 6\n    - 5\n    - 4', '    - 8\n    - 5\n    - 3', 'mimi.seanet.ratios 8,5,3', 'says 6,5,4'],
    ['inner_dim: 32', 'inner_dim: 512', 'mimi.inner_dim 512', 'mimi.downsample.conv.conv.weight'],
    ['outer_dim: 64', 'outer_dim: 63', 'mimi.outer_dim 63', 'mimi.upsample.convtr.convtr.weight'],
    ['n_filters: 8', 'n_filters: 64', 'mimi.seanet.n_filters 64', 'mimi.decoder.model.11.conv.weight'],
    ['kernel_size: 7', 'kernel_size: 5', 'mimi.seanet.kernel_size 5', 'mimi.decoder.model.0.conv.weight'],
    ['compress: 2', 'compress: 4', 'mimi.seanet.compress 4', 'mimi.decoder.model.3.block.1.conv.weight'],
    ['dim_feedforward: 128', 'dim_feedforward: 64', 'mimi.transformer.dim_feedforward 64', 'says 128'],
    ['num_layers: 2', 'num_layers: 8', 'mimi.transformer.num_layers 8', 'says 2'],
    ['  dimension: 32', '  dimension: 8', 'mimi.quantizer.dimension 8', 'mimi.quantizer.output_proj.weight'],
  ])('%s → %s', async (from, to, key, tensor) => {
    await refusal(load(from, to), 'invalid-model', key, tensor, 'two models')
  })

  test('and so does what the shapes do not say but cannot hold', async () => {
    await refusal(load('num_heads: 2', 'num_heads: 3'), 'invalid-model', '3 heads')
    await refusal(load('frame_rate: 12.5', 'frame_rate: 25'), 'invalid-model', 'frameRate 25')
    await refusal(
      load('sample_rate: 24000', 'sample_rate: 16000'),
      'unsupported',
      'mimi.sample_rate 16000',
      '24000',
    )
    await refusal(load('n_residual_layers: 1', 'n_residual_layers: 2'), 'unsupported', 'n_residual_layers 2')
    const model = rewrite(tinyParts.model, (name, tensor) =>
      name.includes('bos_before') ? undefined : tensor,
    )
    const config = { flow_lm: { insert_bos_before_voice: true } }
    const loading = PocketTts.load({ ...tinyParts, model, config }, { simd: fastest })
    await refusal(loading, 'invalid-model', 'bos_before_voice')
  })

  test('num_heads and max_period are taken from the config', async () => {
    const tts = await load('num_heads: 2', 'num_heads: 4')
    expect(tts.flowLm.config).toMatchObject({ heads: 4, headDim: 32 })
    tts.dispose()
  })
})

describe('SHA-256', () => {
  test("law: Node's own, however the bytes are cut", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, cut) => {
        const hash = new Sha256().update(bytes.subarray(0, cut)).update(bytes.subarray(cut))
        expect(hash.hex()).toBe(createHash('sha256').update(bytes).digest('hex'))
      }),
    )
  })
})

describe('the nearest name', () => {
  test('is that with the fewest edits, the first of equals', () => {
    expect(nearest('tempratur', ['noise', 'temperature', 'temper'], String)).toBe('temperature')
    expect(nearest('ab', ['ax', 'ay'], String)).toBe('ax')
    expect(nearest('x', [], String)).toBeUndefined()
  })

  test('law: a distance is a metric', () => {
    const word = fc.string({ maxLength: 8 })
    fc.assert(
      fc.property(word, word, word, (a, b, c) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a))
        expect(editDistance(a, b) === 0).toBe(a === b)
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c))
      }),
    )
  })
})
