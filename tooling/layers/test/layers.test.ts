import { readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { rows } from '../rows.mjs'
import { plant, type Tree, violations } from './tree.ts'
import { broken, sound, unsound } from './workspaces.ts'

const violationsOf = (tree: Tree): string[] => {
  const base = plant(tree)
  try {
    return violations(base)
  } finally {
    rmSync(base, { recursive: true })
  }
}

describe('the dependency rule', () => {
  let found: string[]
  beforeAll(() => {
    found = violationsOf(unsound)
  }, 60_000)

  it('has no objection to a workspace that keeps it', () => {
    expect(violationsOf(sound)).toEqual([])
  })

  it.each(broken)('refuses $title', ({ reported }) => {
    expect(found).toEqual(expect.arrayContaining(reported))
  })

  it('reports nothing else', () => {
    expect(found).toEqual(broken.flatMap(({ reported }) => reported).sort())
  })
})

it('gives every package of this repository a row', () => {
  const folders = readdirSync(fileURLToPath(new URL('../../../packages', import.meta.url)))
  expect(rows.flat()).toEqual(expect.arrayContaining(folders))
})
