import { createCompiledCatalog } from '@lingui/cli/api'
import { getConfig } from '@lingui/conf'
import { lingui, linguiTransformerBabelPreset } from '@lingui/vite-plugin'
import babel from '@rolldown/plugin-babel'
import type { PluginOption } from 'vite'

const configPath = new URL('lingui.config.ts', import.meta.url).pathname

/**
 * Turns the words in the code into messages, and `.po` files into catalogs. English is compiled right into the code, so that it costs no
 * second file and no parser in the browser.
 */
export function translations(): PluginOption[] {
  const config = getConfig({ configPath })
  // Only the extraction reads the texts of the proxy as macros: the proxy runs as it is written.
  const linguiConfig = {
    ...config,
    macro: { ...config.macro, corePackage: ['@lingui/core/macro'] },
  }
  const preset = linguiTransformerBabelPreset(
    { descriptorFields: 'message', linguiConfig },
    { configPath },
  )
  // Babel looks for plugins from where the process was started; `npm start` may be told from anywhere.
  const named: [name: string, options: object][] = preset.preset.plugins
  const found = named.map(([name, options]) => [
    new URL(import.meta.resolve(name)).pathname,
    options,
  ])
  return [
    babel({ presets: [{ ...preset, preset: { plugins: [...found, compileEnglish] } }] }),
    lingui({ configPath, failOnCompileError: true }),
  ]
}

type Node = {
  type: string
  value?: unknown
  key?: { name?: string; value?: string }
  leadingComments?: readonly { value: string }[] | null
}
type Message = Node & { properties: (Node & { value: Node })[] }
type Visitor = { traverse: (visitor: Record<string, (path: { node: Message }) => void>) => void }

/** Babel: the macro's descriptors carry an `i18n` comment; the text of each becomes what the browser's runtime reads. */
function compileEnglish({ types }: { types: { valueToNode: (value: unknown) => Node } }) {
  return {
    visitor: {
      Program: {
        exit(program: Visitor) {
          program.traverse({
            ObjectExpression({ node }) {
              if (
                !node.leadingComments?.some(
                  (comment) => comment.value.replace('*', '').trim() === 'i18n',
                )
              )
                return
              const message = node.properties.find(
                (property) => property.key?.name === 'message' || property.key?.value === 'message',
              )
              if (message?.value.type !== 'StringLiteral') return
              message.value = types.valueToNode(compile(String(message.value.value)))
            },
          })
        },
      },
    },
  }
}

function compile(message: string): unknown {
  const { source, errors } = createCompiledCatalog('en', { message }, { namespace: 'json' })
  const [error] = errors
  if (error) throw new Error(`"${message}" is not a message: ${error.error.message}`)
  const catalog: { messages: { message: unknown } } = JSON.parse(source)
  return catalog.messages.message
}
