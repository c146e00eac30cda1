import babel from '@rolldown/plugin-babel'

/** What a browser reads of a row. For endpoints that only API keys can call: method and path. */
const READ = {
  browser: new Set(['method', 'path', 'response']),
  key: new Set(['method', 'path']),
  problem: new Set(['retryable']),
}

/**
 * Removes from the bundle what only servers read in the tables of src/contract: for endpoints the
 * schemas of requests, the documentation and the responses no browser gets; for problems their
 * texts for API callers. This is a tenth of the shell, and a bundler cannot know that nothing reads
 * a property.
 */
export function slimTables(): ReturnType<typeof babel> {
  return babel({ include: [/\/src\/contract\/([a-z-]*endpoints|problem)\.ts$/], plugins: [slim] })
}

type Node = {
  type: string
  value?: unknown
  name?: string
  expression?: Node
  properties?: Property[]
  key?: Node
}
type Property = Node & { value: Node }
type Path = { type: string; node: Node & { specifiers?: unknown[] }; remove: () => void }
type Program = {
  scope: { crawl: () => void; bindings: Record<string, { referenced: boolean; path: Path }> }
  get: (key: 'body') => Path[]
}

/**
 * Babel: handles `const endpoints = { row: { … } }`, `const …Endpoints = …` and
 * `const problems = …`, with any type assertions after it.
 */
function slim() {
  return {
    visitor: {
      VariableDeclarator({ node }: { node: { id: Node; init: Node | null } }) {
        const { name = '' } = node.id
        if (!/^problems$|ndpoints$/.test(name) || !node.init) return
        for (const row of withoutTypes(node.init).properties ?? [])
          if (row.type === 'ObjectProperty') slimRow(withoutTypes(row.value), name)
      },
      Program: {
        // An unused import would still pull its module into the first load.
        exit(program: Program) {
          program.scope.crawl()
          for (const { referenced, path } of Object.values(program.scope.bindings))
            if (!referenced && path.type === 'ImportSpecifier') path.remove()
          for (const statement of program.get('body'))
            if (statement.node.type === 'ImportDeclaration' && !statement.node.specifiers?.length)
              statement.remove()
        },
      },
    },
  }
}

function slimRow(row: Node, table: string): void {
  const audience = row.properties?.find((property) => nameOf(property) === 'audience')?.value.value
  const read = READ[table === 'problems' ? 'problem' : audience === 'key' ? 'key' : 'browser']
  row.properties = row.properties?.filter(
    (property) => property.type !== 'ObjectProperty' || read.has(nameOf(property)),
  )
}

function nameOf({ key }: Property): string {
  return key?.name ?? String(key?.value)
}

function withoutTypes(node: Node): Node {
  return node.expression ? withoutTypes(node.expression) : node
}
