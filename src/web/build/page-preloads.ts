import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Plugin, Rolldown } from 'vite'

/** In index.html before everything else. */
const SCRIPT = 'start.js'
const TAG = `src="./${SCRIPT}"`
/** The table of the proxy's endpoints, which a page that shows one thing needs at once. */
const CALLS = /\/src\/contract\/calls\.ts$/
const PAGE = /\/src\/web\/pages\/[^/]+\/(\w+)Page\.tsx$/

type Chunk = Rolldown.OutputChunk

/**
 * Has a browser fetch the files of a page beside the shell, which would ask for them only once it runs. Which page that is depends on the address, and hosts
 * answer many addresses with one file: so the script that runs first decides it.
 * @param paths addresses by the names of the pages: `/payments/:paymentId`
 */
export function pagePreloads(paths: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'page-preloads',
    apply: 'build',
    generateBundle: {
      order: 'post',
      async handler(_, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
        const path = `${this.environment.config.publicDir}/${SCRIPT}`
        const source = await this.fs.readFile(path, { encoding: 'utf8' })
        const script = `${source}${preloadScript(filesByPath(chunks, paths))}\n`
        this.emitFile({
          type: 'asset',
          fileName: SCRIPT,
          source: script,
        })
        // Some hosts keep files for minutes: the page of a new build must not get the list of an older one.
        const index = bundle['index.html']
        if (index?.type !== 'asset' || !String(index.source).includes(TAG))
          throw new Error(`index.html holds no ${TAG}.`)
        index.source = String(index.source).replace(TAG, `src="./${SCRIPT}?${hashOf(script)}"`)
      },
    },
  }
}

function filesByPath(
  chunks: readonly Chunk[],
  paths: Readonly<Record<string, string>>,
): Map<string, string[]> {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const find = (test: (id: string) => boolean) =>
    chunks.find(({ moduleIds }) => moduleIds.some(test))
  const shell = importedBy(chunks.find(({ isEntry, name }) => isEntry || name === 'shell'))
  const calls = find((id) => CALLS.test(id))
  return new Map(
    Object.entries(paths).map(([name, path]) => {
      const page = find((id) => PAGE.exec(id)?.[1]?.toLowerCase() === name.toLowerCase())
      if (!page || !calls) throw new Error(`The page ${name} is in no file.`)
      const files = new Set([...importedBy(page), ...(path.includes(':') ? importedBy(calls) : [])])
      return [path, [...files].filter((file) => !shell.has(file))]
    }),
  )

  function importedBy(chunk: Chunk | undefined, seen: Set<string> = new Set()): Set<string> {
    if (!chunk || seen.has(chunk.fileName)) return seen
    seen.add(chunk.fileName)
    for (const file of chunk.imports) importedBy(byFile.get(file), seen)
    return seen
  }
}

/** The addresses are those of src/web/router/location.ts: below the base, or `#/…` from a host without rewrite rules. */
export function preloadScript(filesOf: ReadonlyMap<string, readonly string[]>): string {
  const files = [...new Set([...filesOf.values()].flat())]
  const pages = [...filesOf].map(([path, own]) => [
    `^${path.replace(/:[a-zA-Z]+/g, '[^/]+')}/?$`,
    ...own.map((file) => files.indexOf(file)),
  ])
  return `;(function (files, pages) {
  var base = new URL(document.baseURI).pathname
  var path = /^#\\//.test(location.hash) ? location.hash.slice(1).split(/[?#]/)[0] : location.pathname.slice(base.length - 1)
  pages.forEach(function (page) {
    if (!new RegExp(page[0]).test(path)) return
    page.slice(1).forEach(function (index) {
      var link = document.createElement('link')
      link.rel = 'modulepreload'
      link.href = files[index]
      document.head.append(link)
    })
  })
})(${JSON.stringify(files)}, ${JSON.stringify(pages)})`
}

function hashOf(script: string): string {
  return bytesToHex(sha256(utf8ToBytes(script))).slice(0, 8)
}
