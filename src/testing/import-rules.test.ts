import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { BANS, layersAbove, lintText, PROGRAMS, SERVER_ONLY } from './import-rules.ts'

const ROOT = join(import.meta.dirname, '../..')
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\()\s*['"]([^'"]+)['"]/g
const OF_TYPES = /\b(?:import|export) type [^'"]*?from\s*['"][^'"]+['"]/g

type Import = { from: string; to: string }

const production = (path: string) =>
  /\.(ts|tsx)$/.test(path) && !/\.test\.|\.d\.ts$|(^|\/)testing\/|no-mobile-adapter/.test(path)
const paths = (await readdir(join(ROOT, 'src'), { recursive: true }))
  .map((path) => `src/${path}`)
  .filter((path) => production(path))
const known = new Set(paths)
const texts = await Promise.all(
  paths.map(async (path) => [path, await readFile(join(ROOT, path), 'utf8')] as const),
)
const imports = texts.flatMap(([path, text]) => importsOf(path, text))
/** Without those of types, which a build removes. */
const loads = texts.flatMap(([path, text]) => importsOf(path, text.replace(OF_TYPES, '')))

/** Of our own files: static, of types only, and dynamic. */
function importsOf(from: string, text: string): Import[] {
  return [...text.matchAll(SPECIFIER)].flatMap(([, specifier = '']) => {
    const to = specifier.startsWith('#')
      ? `src/${specifier.slice(1)}`
      : normalize(join(dirname(from), specifier))
    return specifier.startsWith('#') || specifier.startsWith('.') ? [{ from, to }] : []
  })
}

const programOf = (path: string) => path.split('/')[1] ?? ''
const layersOf = (program: string) => PROGRAMS[program]?.layers ?? []

/** The layer of its program that a file is in, the innermost one; undefined for files beside the layers. */
function layerOf(path: string): string | undefined {
  const folder = dirname(path).split('/').slice(2).join('/')
  return layersOf(programOf(path))
    .flat()
    .filter((layer) => folder === layer || folder.startsWith(`${layer}/`))
    .toSorted((a, b) => b.length - a.length)[0]
}

/** What the tables have against an import; undefined where they allow it. */
function complaint({ from, to }: Import): string | undefined {
  const [program, other] = [programOf(from), programOf(to)]
  if (program !== other)
    return PROGRAMS[program]?.may.includes(other)
      ? undefined
      : `src/${program} may not import src/${other}`
  const [own, layer] = [layerOf(from), layerOf(to)]
  if (own === undefined) return undefined
  if (layer === undefined)
    return dirname(to) === `src/${program}`
      ? `${own} may not import a file beside the layers`
      : undefined
  return layersAbove(layersOf(program), own).includes(layer)
    ? `${own} may not import ${layer}`
    : undefined
}

/** Folders that import each other, directly or around. */
function circlesOf(all: readonly Import[]): string[][] {
  const graph = new Map<string, Set<string>>()
  for (const { from, to } of all)
    if (dirname(from) !== dirname(to))
      graph.set(dirname(from), (graph.get(dirname(from)) ?? new Set()).add(dirname(to)))
  const reaches = (start: string) => {
    const seen = new Set<string>()
    const waiting = [...(graph.get(start) ?? [])]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      waiting.push(...(graph.get(next) ?? []))
    }
    return seen
  }
  const reached = new Map([...graph.keys()].map((folder) => [folder, reaches(folder)]))
  return [...reached]
    .filter(([folder, others]) => others.has(folder))
    .map(([folder, others]) => [
      folder,
      ...[...others].filter((other) => reached.get(other)?.has(folder)),
    ])
}

test('the linter has the rules of the tables', async () => {
  expect(
    await readFile(join(ROOT, 'src/testing/import-rules.json'), 'utf8'),
    'run node src/testing/import-rules.ts',
  ).toBe(lintText())
})

test('every import is one that the tables allow', () => {
  expect(imports.length).toBeGreaterThan(3_000)
  const ruled = imports.filter(({ from, to }) => programOf(from) in PROGRAMS && known.has(to))
  expect(ruled.flatMap((each) => complaint(each)?.concat(`, in ${each.from}`) ?? [])).toEqual([])
})

test('no folder imports itself around others', () => {
  expect(circlesOf(imports.filter(({ to }) => known.has(to)))).toEqual([])
})

/** How a file of the web app reaches a module that only servers read: the imports on the way. */
function wayToServer(all: readonly Import[]): string[] | undefined {
  const byFile = Map.groupBy(all, ({ from }) => from)
  const before = new Map<string, string | undefined>(
    [...byFile.keys()].flatMap((path) => (programOf(path) === 'web' ? [[path, undefined]] : [])),
  )
  // The loop also walks what it adds.
  for (const path of before.keys()) {
    if (SERVER_ONLY.some((name) => path === `src/contract/${name}.ts`)) {
      const way: string[] = []
      for (let step: string | undefined = path; step !== undefined; step = before.get(step))
        way.unshift(step)
      return way
    }
    for (const { to } of byFile.get(path) ?? []) if (!before.has(to)) before.set(to, path)
  }
  return undefined
}

test('browsers load nothing of src/contract that only servers read', () => {
  expect(wayToServer(loads)).toBeUndefined()
  const planted = { from: 'src/contract/calls.ts', to: 'src/contract/endpoints.ts' }
  expect(wayToServer([...loads, planted])?.slice(-2)).toEqual([planted.from, planted.to])
})

test('every folder of a program with layers is in one, and every layer and ban has a folder', async () => {
  const folders = new Set(paths.map((path) => dirname(path)))
  for (const [program, { layers = [] }] of Object.entries(PROGRAMS).filter(
    ([, rules]) => rules.layers,
  )) {
    const inside = [...folders].filter((folder) => folder.startsWith(`src/${program}/`))
    expect(inside.filter((folder) => layerOf(`${folder}/file.ts`) === undefined)).toEqual([])
    for (const layer of layers.flat())
      expect(
        inside.some((folder) => `${folder}/`.startsWith(`src/${program}/${layer}/`)),
        `${program}/${layer}`,
      ).toBe(true)
  }
  for (const folder of BANS.flatMap(({ files }) => files))
    expect(
      [...folders, ...paths].some((each) => `${each}/`.startsWith(`${folder}/`)),
      folder,
    ).toBe(true)
})

/** One violation of every row: each folder imports the lowest of those above it; each program one it may not. */
const planted: Import[] = Object.entries(PROGRAMS).flatMap(([program, { may, layers = [] }]) => {
  const other = Object.keys(PROGRAMS).find((each) => each !== program && !may.includes(each)) ?? ''
  const between = layers.flat().flatMap((layer) => {
    const [above] = layersAbove(layers, layer)
    return above === undefined
      ? []
      : [{ from: `src/${program}/${layer}/planted.ts`, to: `src/${program}/${above}/planted.ts` }]
  })
  return [{ from: `src/${program}/planted.ts`, to: `src/${other}/planted.ts` }, ...between]
})

test.each(planted)('$from may not import $to, and doing both ways is a circle', ({ from, to }) => {
  expect(complaint({ from, to })).toMatch(/may not import/)
  expect(
    circlesOf([
      { from, to },
      { from: to, to: from },
    ]),
  ).toHaveLength(2)
})
