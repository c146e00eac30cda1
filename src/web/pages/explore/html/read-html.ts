import { readTokens, type Token } from './tokens.ts'

/** A page's words and their order, without anything that acts: no code, no styles, no address that is loaded. */
export type Content = string | Part
export type Part = {
  tag: Tag
  /** Of a link: where it leads, http or https. */
  href?: string
  /** Of a picture that is part of the page itself: a `data:` address. */
  src?: string
  /** Of a picture: what its writer says of it; empty where it only adorns. */
  alt?: string
  children: Content[]
}

const BLOCKS = ['div', 'p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'blockquote', 'pre', 'hr', 'figure', 'figcaption'] as const
const TABLES = ['table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'caption'] as const
const INLINE = ['a', 'br', 'em', 'strong', 'code', 'sub', 'sup', 'small', 's', 'mark', 'q', 'img'] as const
export type Tag = (typeof BLOCKS)[number] | (typeof TABLES)[number] | (typeof INLINE)[number]

const TAGS: ReadonlyMap<string, Tag> = new Map<string, Tag>([
  ...[...BLOCKS, ...TABLES, ...INLINE].map((tag): [string, Tag] => [tag, tag]),
  ...['section', 'article', 'main', 'header', 'footer', 'aside', 'nav', 'address', 'details', 'summary', 'form', 'fieldset', 'center'].map(
    (name): [string, Tag] => [name, 'div'],
  ),
  ['b', 'strong'],
  ['i', 'em'],
  ['cite', 'em'],
  ['dfn', 'em'],
  ['kbd', 'code'],
  ['samp', 'code'],
  ['tt', 'code'],
  ['del', 's'],
  ['strike', 's'],
])

/** With all that is in them, these say nothing to a reader. */
const DROPPED: ReadonlySet<string> = new Set(['svg', 'math', 'template', 'object', 'audio', 'video', 'canvas', 'select', 'datalist', 'dialog'])
const EMPTY: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'wbr', 'source', 'track', 'col', 'embed', 'base', 'area', 'param'])
const BLOCK: ReadonlySet<Tag> = new Set<Tag>([...BLOCKS, 'table'])

/** What an opening tag ends, where its writer left the end out, and what keeps it from looking further out. */
const ENDS: Readonly<Partial<Record<Tag, { ended: readonly Tag[]; within: readonly Tag[] }>>> = {
  li: { ended: ['li'], within: ['ul', 'ol'] },
  dt: { ended: ['dt', 'dd'], within: ['dl'] },
  dd: { ended: ['dt', 'dd'], within: ['dl'] },
  tr: { ended: ['tr'], within: ['table'] },
  td: { ended: ['td', 'th'], within: ['tr', 'table'] },
  th: { ended: ['td', 'th'], within: ['tr', 'table'] },
  tbody: { ended: ['thead', 'tbody'], within: ['table'] },
  tfoot: { ended: ['thead', 'tbody'], within: ['table'] },
}

/** What may stand directly in a part of a table; anything else belongs before the table. */
const TABLE_CHILDREN: Readonly<Partial<Record<Tag, readonly Tag[]>>> = {
  table: ['caption', 'thead', 'tbody', 'tfoot', 'tr'],
  thead: ['tr'],
  tbody: ['tr'],
  tfoot: ['tr'],
  tr: ['td', 'th'],
}

const MAX_PARTS = 10_000
const MAX_DEPTH = 100
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-zA-Z0-9+/=\s]+$/

/** An open element; without a part, what is in it goes to the one around it. */
type Open = { name: string; part: Part | null }

/**
 * Reads a page for somebody who wants to read it. The result is data: it can only be shown as words, lists, tables and links.
 * @param url where the page came from: its links are relative to it
 * @returns nothing where no word is left, or the page is too large to be shown at once
 */
export function readHtml(html: string, url: string): Part | undefined {
  const reader = new Reader(url)
  for (const token of readTokens(html)) if (!reader.take(token)) return undefined
  return hasWords(reader.root) ? reader.root : undefined
}

class Reader {
  readonly root: Part = { tag: 'div', children: [] }
  readonly #url: string
  #open: Open[] = []
  /** How deep in an element that is dropped, by its name. */
  #dropped: { name: string; depth: number } | undefined
  #parts = 0

  constructor(url: string) {
    this.#url = url
  }

  /** False once there is more than can be shown. */
  take(token: Token): boolean {
    if (this.#dropped) this.#skip(token, this.#dropped)
    else if (token.kind === 'text') this.#append(token.text)
    else if (token.kind === 'close') this.#close(token.name)
    else this.#start(token)
    return this.#parts <= MAX_PARTS
  }

  #skip(token: Token, dropped: { name: string; depth: number }): void {
    if (token.kind === 'text' || token.name !== dropped.name || (token.kind === 'open' && token.closed)) return
    dropped.depth += token.kind === 'open' ? 1 : -1
    if (dropped.depth === 0) this.#dropped = undefined
  }

  #start({ name, attributes, closed }: Extract<Token, { kind: 'open' }>): void {
    const empty = EMPTY.has(name)
    if (DROPPED.has(name) || (attributes.has('hidden') && !empty)) {
      if (!closed) this.#dropped = { name, depth: 1 }
      return
    }
    const tag = TAGS.get(name)
    if (tag) this.#endBefore(tag)
    const part = tag && this.#open.length < MAX_DEPTH ? this.#partOf(tag, attributes) : null
    if (part) this.#append(part)
    if (!empty) this.#open.push({ name, part })
  }

  #partOf(tag: Tag, attributes: ReadonlyMap<string, string>): Part {
    const part: Part = { tag, children: [] }
    if (tag === 'a') {
      const target = URL.parse(attributes.get('href') ?? '', this.#url)
      if (attributes.has('href') && target && /^https?:$/.test(target.protocol)) part.href = target.href
    }
    if (tag === 'img') {
      const src = attributes.get('src') ?? ''
      if (PICTURE.test(src)) part.src = src
      const alt = attributes.get('alt')
      if (alt !== undefined) part.alt = alt
    }
    return part
  }

  #endBefore(tag: Tag): void {
    // A paragraph ends where a block begins.
    if (BLOCK.has(tag)) this.#endIn(['p'], ['li', 'dd', 'dt', 'td', 'th', 'blockquote', 'div', 'figure'])
    const ends = ENDS[tag]
    if (ends) this.#endIn(ends.ended, ends.within)
  }

  /** Ends the innermost of these that is open, and what is open in it. */
  #endIn(ended: readonly Tag[], within: readonly Tag[]): void {
    for (let index = this.#open.length - 1; index >= 0; index--) {
      const tag = this.#open[index]?.part?.tag
      if (tag !== undefined && ended.includes(tag)) return void (this.#open = this.#open.slice(0, index))
      if (tag !== undefined && within.includes(tag)) return
    }
  }

  #close(name: string): void {
    const index = this.#open.findLastIndex((open) => open.name === name)
    if (index >= 0) this.#open = this.#open.slice(0, index)
  }

  #append(content: Content): void {
    this.#parts++
    const around = this.#open.flatMap(({ part }) => part ?? [])
    const parent = around.findLast(({ tag }) => fits(content, TABLE_CHILDREN[tag])) ?? around.findLast(({ tag }) => !TABLE_CHILDREN[tag]) ?? this.root
    if (typeof content !== 'string' && !fits(content, TABLE_CHILDREN[parent.tag])) content.tag = 'div'
    const isSpace = typeof content === 'string' && content.trim() === ''
    if (isSpace && parent !== (around.at(-1) ?? this.root)) return
    parent.children.push(content)
  }
}

function fits(content: Content, children: readonly Tag[] | undefined): boolean {
  if (!children) return typeof content === 'string' || !['tr', 'td', 'th', 'thead', 'tbody', 'tfoot', 'caption'].includes(content.tag)
  return typeof content !== 'string' && children.includes(content.tag)
}

function hasWords(part: Part): boolean {
  return part.children.some((child) => (typeof child === 'string' ? child.trim() !== '' : child.src !== undefined || hasWords(child)))
}
