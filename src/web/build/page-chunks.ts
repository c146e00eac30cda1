import type { Plugin } from 'vite'

/** What a further file costs each page that loads it, in bytes of source: a request, and text that is compressed by itself. */
const FILE_COST = 8_000
/** More than there are; one group of the bundler for each. */
const MOST_FILES = 40

export type Module = {
  id: string
  /** What it imports statically. */
  imports: readonly string[]
  bytes: number
}

export type PageChunksOptions = {
  /** Whether a module is a page: what is loaded before it works is counted. */
  isPage: (id: string) => boolean
  /** The page that loads nothing for the sake of other pages. */
  isFirst: (id: string) => boolean
}

/**
 * Puts what pages share into few files. The bundler by itself makes one file for each set of parts that share something, which is 26 files for a payment link.
 */
export function pageChunks(options: PageChunksOptions): Plugin {
  let files: ReadonlyMap<string, number> = new Map()
  const shared = Array.from({ length: MOST_FILES }, (_, index) => ({
    name: (id: string) => (files.get(id) === index ? `shared-${index}` : null),
  }))
  return {
    name: 'page-chunks',
    apply: 'build',
    config: () => {
      // What every first visit needs is one file: it compresses better than twenty, and comes in one round trip.
      const groups = [{ name: 'shell', tags: ['$initial' as const] }, ...shared]
      return { build: { rolldownOptions: { output: { codeSplitting: { groups } } } } }
    },
    buildEnd() {
      const modules = new Map<string, Module>()
      const entries: string[] = []
      for (const id of this.getModuleIds()) {
        const info = this.getModuleInfo(id)
        if (!info) continue
        modules.set(id, { id, imports: info.importedIds, bytes: info.code?.length ?? 0 })
        if (info.isEntry) entries.push(id)
      }
      for (const entry of entries) for (const id of reachedFrom(entry, modules)) modules.delete(id)
      files = planFiles(modules, options)
      if (Math.max(...files.values()) >= MOST_FILES)
        throw new Error(`Pages share more than ${MOST_FILES} files.`)
    },
  }
}

/** Modules that one set of pages loads. */
type Part = { modules: readonly Module[]; bytes: number; pages: ReadonlySet<string> }
type Imports = ReadonlyMap<Part, ReadonlySet<Part>>

/**
 * The number of the file of each module that several pages load. It begins with one file for each set of pages, and makes one of two files as long as
 * the bytes that pages then load in vain cost less than the file. A file has a higher number than those it imports: the bundler takes what a module
 * imports into its file, unless it is in an earlier one.
 */
export function planFiles(
  modules: ReadonlyMap<string, Module>,
  { isPage, isFirst }: PageChunksOptions,
): Map<string, number> {
  const hasFirst = ({ pages }: Part) => [...pages].some(isFirst)
  let parts = partsByPages(modules, isPage)
  for (;;) {
    const imports = importsOf(parts)
    let best: { gain: number; one: Part; other: Part } | undefined
    for (const [index, one] of parts.entries())
      for (const other of parts.slice(index + 1)) {
        if (hasFirst(one) !== hasFirst(other)) continue
        const gain = gainOf(one, other)
        if (gain > (best?.gain ?? 0) && !isThirdBetween(imports, one, other))
          best = { gain, one, other }
      }
    if (!best) return numbersOf(parts, imports)
    const { one, other } = best
    const both = {
      modules: [...one.modules, ...other.modules],
      bytes: one.bytes + other.bytes,
      pages: new Set([...one.pages, ...other.pages]),
    }
    parts = [...parts.filter((part) => part !== one && part !== other), both]
  }
}

function partsByPages(
  modules: ReadonlyMap<string, Module>,
  isPage: (id: string) => boolean,
): Part[] {
  const pagesOf = new Map<string, Set<string>>()
  for (const page of [...modules.keys()].filter(isPage))
    for (const id of reachedFrom(page, modules)) {
      const pages = pagesOf.get(id) ?? new Set()
      pagesOf.set(id, pages.add(page))
    }
  const parts = new Map<string, Part>()
  for (const [id, pages] of pagesOf) {
    const module = modules.get(id)
    if (!module || pages.size === 1) continue
    const key = [...pages].toSorted().join(' ')
    const part = parts.get(key) ?? { modules: [], bytes: 0, pages }
    const { bytes } = module
    parts.set(key, { modules: [...part.modules, module], bytes: part.bytes + bytes, pages })
  }
  return [...parts.values()]
}

/** What is saved where two parts are one file. */
function gainOf(one: Part, other: Part): number {
  const both = [...one.pages].filter((page) => other.pages.has(page)).length
  const vain = one.bytes * (other.pages.size - both) + other.bytes * (one.pages.size - both)
  return both * FILE_COST - vain
}

function importsOf(parts: readonly Part[]): Imports {
  const partOf = new Map(parts.flatMap((part) => part.modules.map(({ id }) => [id, part] as const)))
  return new Map(
    parts.map((part) => [
      part,
      new Set(
        part.modules.flatMap((module) => module.imports.flatMap((id) => partOf.get(id) ?? [])),
      ),
    ]),
  )
}

/** Whether one of the two imports the other by way of a third: the third and the file of both would import each other. */
function isThirdBetween(imports: Imports, one: Part, other: Part): boolean {
  const leads = (from: Part, to: Part) =>
    [...(imports.get(from) ?? [])].some(
      (part) => part !== from && part !== to && reachedParts(part, imports).has(to),
    )
  return leads(one, other) || leads(other, one)
}

function reachedParts(start: Part, imports: Imports, seen: Set<Part> = new Set()): Set<Part> {
  if (seen.has(start)) return seen
  seen.add(start)
  for (const part of imports.get(start) ?? []) reachedParts(part, imports, seen)
  return seen
}

function numbersOf(parts: readonly Part[], imports: Imports): Map<string, number> {
  const sorted = new Set<Part>()
  for (const part of parts) addAfterImports(part)
  return new Map(
    [...sorted].flatMap((part, index) => part.modules.map(({ id }) => [id, index] as const)),
  )

  function addAfterImports(part: Part): void {
    for (const each of imports.get(part) ?? [])
      if (each !== part && !sorted.has(each)) addAfterImports(each)
    sorted.add(part)
  }
}

/** A module and everything it imports statically. */
function reachedFrom(start: string, modules: ReadonlyMap<string, Module>): Set<string> {
  const seen = new Set<string>()
  const waiting = [start]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const module = modules.get(id)
    if (!module || seen.has(id)) continue
    seen.add(id)
    waiting.push(...module.imports)
  }
  return seen
}
