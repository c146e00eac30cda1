import { decodeEntities } from './entities.ts'

/** A piece of HTML as it is written, one after another. */
export type Token =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; attributes: ReadonlyMap<string, string>; closed: boolean }
  | { kind: 'close'; name: string }

/** Up to their end tag these hold no markup, and nothing a reader wants. */
const RAW: ReadonlySet<string> = new Set(['script', 'style', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'])

// Its length is bounded: a page that is nothing but beginnings of tags is not read to its end from each of them.
const TAG = /<(\/?)([a-zA-Z][^\s/>]{0,40})((?:"[^"]*"|'[^']*'|[^>"']){0,1000})>/y
const ATTRIBUTE = /([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g
const SKIPPED = /<!--[\s\S]*?(?:-->|$)|<[!?][^>]*(?:>|$)/y

/** Reads HTML into its pieces. What is no tag is text; comments and what scripts and styles hold are left out. */
export function* readTokens(html: string): Generator<Token> {
  let at = 0
  while (at < html.length) {
    const next = html.indexOf('<', at)
    const end = next < 0 ? html.length : next
    if (end > at) yield { kind: 'text', text: decodeEntities(html.slice(at, end)) }
    if (next < 0) return
    const skipped = matchAt(SKIPPED, html, next)
    if (skipped) {
      at = next + skipped[0].length
      continue
    }
    const tag = matchAt(TAG, html, next)
    if (!tag) {
      yield { kind: 'text', text: '<' }
      at = next + 1
      continue
    }
    const [whole, slash, written = '', rest = ''] = tag
    const name = written.toLowerCase()
    at = next + whole.length
    if (slash) {
      yield { kind: 'close', name }
    } else if (RAW.has(name)) {
      at = endOfRaw(html, name, at)
    } else {
      yield { kind: 'open', name, attributes: readAttributes(rest), closed: rest.endsWith('/') }
    }
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

function endOfRaw(html: string, name: string, from: number): number {
  const pattern = new RegExp(`</${name}[\\s/>]`, 'gi')
  pattern.lastIndex = from
  const close = pattern.exec(html)
  if (!close) return html.length
  const end = html.indexOf('>', close.index)
  return end < 0 ? html.length : end + 1
}

function readAttributes(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', double, single, bare] of text.matchAll(ATTRIBUTE)) {
    const known = name.toLowerCase()
    if (!attributes.has(known)) attributes.set(known, decodeEntities(double ?? single ?? bare ?? ''))
  }
  return attributes
}
