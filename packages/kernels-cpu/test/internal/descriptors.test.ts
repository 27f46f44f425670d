import { readdirSync, readFileSync } from 'node:fs'
import { leastMagnitude } from '@pocket/nn'
import { describe, expect, it } from 'vitest'
import * as descriptors from '../../src/wasm/descriptors.ts'
import { kernelModule } from '../../src/wasm/module.ts'
import { panelWidth } from '../../src/wasm/pack.ts'
import { probeSimd } from '../../src/wasm/probe.ts'

/** What the two sides of the border have to agree on is read from the sources of the other side. */
const folder = new URL('../../assembly/', import.meta.url)
const assembly = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'))
  .join('\n')

/** Names and values of a block: fields of a class, or constants of a namespace. */
const blockOf = (opening: string, entry: RegExp): [string, string][] => {
  const from = assembly.indexOf(`export ${opening} {`)
  if (from < 0) throw new Error(`assembly has no ${opening}`)
  const block = assembly.slice(from, assembly.indexOf('\n}', from))
  return [...block.matchAll(entry)].map(([, name, value]) => [name!, value!])
}

const fieldsOf = (name: string) => blockOf(`class ${name}`, /^ {2}(\w+): (\w+)$/gm)
const codesOf = (name: string) => blockOf(`namespace ${name}`, /export const (\w+) = (\d+)/g)

describe('descriptors', () => {
  it.each([
    ['Product', descriptors.product],
    ['Norm', descriptors.norm],
    ['Elementwise', descriptors.elementwise],
    ['Window', descriptors.window],
    ['Upsampling', descriptors.upsampling],
    ['Attention', descriptors.attention],
    ['Quantization', descriptors.quantization],
    ['IntegerPanel', descriptors.integerPanel],
    ['Instruction', descriptors.instruction],
    ['Program', descriptors.program],
  ])('%s has the same fields in the same order on both sides', (name, fields) => {
    const expected = fieldsOf(name).map(([field, type]) => [field, type === 'f32' ? 'float' : 'word'])
    expect(Object.entries(fields)).toEqual(expected)
  })

  it('gives room for those of an operation', () => {
    const {
      window,
      quantization,
      product,
      attention,
      norm,
      elementwise,
      upsampling,
      bytesOf,
      descriptorBytes,
    } = descriptors
    const most = Math.max(
      bytesOf(window) + bytesOf(quantization) + bytesOf(product),
      bytesOf(window) + bytesOf(upsampling),
      ...[attention, norm, elementwise, product].map(bytesOf),
    )
    expect(descriptorBytes).toBeGreaterThanOrEqual(most)
  })
})

describe('codes', () => {
  const { activationCodes, formatCodes, conversionCodes, kernelCodes } = descriptors
  const conversions = {
    f32ToF32: conversionCodes.F32.F32,
    f32ToBf16: conversionCodes.F32.BF16,
    bf16ToF32: conversionCodes.BF16.F32,
    bf16ToBf16: conversionCodes.BF16.BF16,
  }

  it.each([
    ['Activation', activationCodes],
    ['Format', formatCodes],
    ['Kernel', kernelCodes],
    ['Conversion', conversions],
  ])('%s', (name, codes) => {
    const expected = codesOf(name).map(([code, value]) => [code, Number(value)])
    expect(Object.fromEntries(expected)).toEqual(codes)
  })

  it.each([
    ['panelWidth', panelWidth],
    ['leastMagnitude: f32', leastMagnitude],
  ])('%s', (name, value) => {
    expect(assembly).toMatch(new RegExp(`const ${name} = ${value}\\n`))
  })
})

describe('exports', () => {
  const declared = (file: string, name: string): string[] => {
    const source = readFileSync(new URL(`../../src/wasm/${file}`, import.meta.url), 'utf8')
    const from = source.indexOf(`interface ${name} `)
    return [...source.slice(from, source.indexOf('\n}', from)).matchAll(/^ {2}(\w+)\(/gm)].map(
      ([, name]) => name!,
    )
  }
  const builds = [
    { sharing: 'single', own: declared('runner.ts', 'SingleExports'), globals: ['memoryBegin'] },
    { sharing: 'shared', own: declared('crew.ts', 'CrewExports'), globals: ['crewBytes', 'memoryBegin'] },
  ] as const

  it.skipIf(probeSimd() === 'scalar').each(builds)(
    'of the build "$sharing" are those that the host names, and nothing else',
    async ({ sharing, own, globals }) => {
      const exported = WebAssembly.Module.exports(await kernelModule('simd', sharing))
      const names = (wanted: string) => exported.filter(({ kind }) => kind === wanted).map(({ name }) => name)
      expect(names('function').sort()).toEqual([...own, ...declared('runner.ts', 'KernelExports')].sort())
      expect(names('global').sort()).toEqual(globals)
      expect(exported).toHaveLength(names('function').length + names('global').length)
    },
  )

  it.skipIf(probeSimd() === 'scalar').each(builds)(
    'of the build "$sharing" need nothing but memory',
    async ({ sharing }) => {
      const imports = WebAssembly.Module.imports(await kernelModule('simd', sharing))
      expect(imports).toEqual([{ module: 'env', name: 'memory', kind: 'memory' }])
    },
  )
})
