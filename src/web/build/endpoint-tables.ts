import babel from '@rolldown/plugin-babel'

/** What a browser reads of an endpoint's row; of one that only API keys can call, where it is. */
const READ = { browser: new Set(['method', 'path', 'response']), key: new Set(['method', 'path']) }

/**
 * Leaves out of the bundle what only servers read of the endpoint tables in src/contract: the schemas of requests, the documentation, the
 * answers no browser gets. It is a tenth of the shell, and a bundler cannot know that nobody reads a property.
 */
export function slimEndpointTables(): ReturnType<typeof babel> {
  return babel({ include: [/\/src\/contract\/[a-z-]*endpoints\.ts$/], plugins: [slim] })
}

type Node = { type: string; value?: unknown; name?: string; expression?: Node; properties?: Property[]; key?: Node }
type Property = Node & { value: Node }
type Path = { type: string; node: Node & { specifiers?: unknown[] }; remove: () => void }
type Program = { scope: { crawl: () => void; bindings: Record<string, { referenced: boolean; path: Path }> }; get: (key: 'body') => Path[] }

/** Babel: acts on `const …endpoints = { row: { … } }`, whatever type assertions stand after it. */
function slim() {
  return {
    visitor: {
      VariableDeclarator({ node }: { node: { id: Node; init: Node | null } }) {
        if (!node.id.name?.endsWith('ndpoints') || !node.init) return
        for (const row of withoutTypes(node.init).properties ?? []) if (row.type === 'ObjectProperty') slimRow(withoutTypes(row.value))
      },
      Program: {
        // An import that nothing needs any more still draws its module into the first load.
        exit(program: Program) {
          program.scope.crawl()
          for (const { referenced, path } of Object.values(program.scope.bindings)) if (!referenced && path.type === 'ImportSpecifier') path.remove()
          for (const statement of program.get('body')) if (statement.node.type === 'ImportDeclaration' && !statement.node.specifiers?.length) statement.remove()
        },
      },
    },
  }
}

function slimRow(row: Node): void {
  const audience = row.properties?.find((property) => nameOf(property) === 'audience')?.value.value
  const read = READ[audience === 'key' ? 'key' : 'browser']
  row.properties = row.properties?.filter((property) => property.type !== 'ObjectProperty' || read.has(nameOf(property)))
}

function nameOf({ key }: Property): string {
  return key?.name ?? String(key?.value)
}

function withoutTypes(node: Node): Node {
  return node.expression ? withoutTypes(node.expression) : node
}
