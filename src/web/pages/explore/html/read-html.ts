import { html as written, parse, type DefaultTreeAdapterTypes as Tree } from 'parse5'

/**
 * A page's text in its order, without anything active: no code, no styles, no URL that is loaded.
 */
export type Content = string | Part
export type Part = {
  tag: Tag
  /** Of a link: its target, http or https. */
  href?: string
  /** Of an embedded picture: a `data:` URL. */
  src?: string
  /** Of a picture: its alternative text; empty if it is decorative. */
  alt?: string
  children: Content[]
}

const BLOCKS = [
  'div',
  'p',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'li',
  'dl',
  'dt',
  'dd',
  'blockquote',
  'pre',
  'hr',
  'figure',
  'figcaption',
] as const
const INLINE = [
  'a',
  'br',
  'em',
  'strong',
  'code',
  'sub',
  'sup',
  'small',
  's',
  'mark',
  'q',
  'img',
] as const
/** Elements that occur only in a table, with no text except in its cells. */
const TABLE_PARTS = ['thead', 'tbody', 'tfoot', 'tr'] as const
const CELLS = ['th', 'td', 'caption'] as const
export type Tag =
  | (typeof BLOCKS)[number]
  | (typeof INLINE)[number]
  | 'table'
  | (typeof TABLE_PARTS)[number]
  | (typeof CELLS)[number]

const TAGS: ReadonlyMap<string, Tag> = new Map<string, Tag>([
  ...[...BLOCKS, ...INLINE, 'table' as const, ...TABLE_PARTS, ...CELLS].map(
    (tag): [string, Tag] => [tag, tag],
  ),
  ...[
    'section',
    'article',
    'main',
    'header',
    'footer',
    'aside',
    'nav',
    'address',
    'details',
    'summary',
    'form',
    'fieldset',
    'center',
  ].map((name): [string, Tag] => [name, 'div']),
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
const ONLY_IN_TABLES: ReadonlySet<Tag> = new Set<Tag>([...TABLE_PARTS, ...CELLS])
const WITHOUT_WORDS: ReadonlySet<Tag> = new Set<Tag>(['table', ...TABLE_PARTS])

/** These, with all their content, say nothing to a reader. */
const DROPPED: ReadonlySet<string> = new Set(
  'head script style title template textarea select datalist dialog object iframe noembed noframes audio video canvas xmp'.split(
    ' ',
  ),
)

const MAX_PARTS = 10_000
const MAX_DEPTH = 100
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-zA-Z0-9+/=\s]+$/

class PageTooLongError extends Error {}

/**
 * Reads a page for display. The result is data: it can only be shown as text, lists, tables and
 * links.
 * @param url where the page came from: its links are relative to it
 * @returns nothing if no text is left, or the page is too long to be shown at once
 */
export function readHtml(html: string, url: string): Part | undefined {
  let parts = 0

  function read(node: Tree.ParentNode, depth: number): Content[] {
    return node.childNodes.flatMap((child) => {
      if (++parts > MAX_PARTS) throw new PageTooLongError()
      if ('value' in child) return [child.value]
      if (!('tagName' in child) || isDropped(child)) return []
      const tag = TAGS.get(child.tagName)
      // Too deep to show as nested boxes: the text alone is enough.
      if (depth > MAX_DEPTH && (tag === undefined || !ONLY_IN_TABLES.has(tag)))
        return [wordsOf(child)]
      return tag === undefined ? read(child, depth + 1) : [partOf(child, tag, depth)]
    })
  }

  function partOf(element: Tree.Element, tag: Tag, depth: number): Part {
    const children = read(element, depth + 1)
    const part: Part = {
      tag,
      children: WITHOUT_WORDS.has(tag)
        ? children.filter((child) => typeof child !== 'string')
        : children,
    }
    const attribute = (attributeName: string) =>
      element.attrs.find(({ name }) => name === attributeName)?.value
    const target = tag === 'a' ? URL.parse(attribute('href') ?? 'about:blank', url) : null
    if (target && /^https?:$/.test(target.protocol)) part.href = target.href
    if (tag !== 'img') return part
    const [src, alt] = [attribute('src') ?? '', attribute('alt')]
    return { ...part, ...(PICTURE.test(src) && { src }), ...(alt !== undefined && { alt }) }
  }

  try {
    const root: Part = { tag: 'div', children: read(parse(html, { scriptingEnabled: false }), 0) }
    return hasWords(root) ? root : undefined
  } catch (error) {
    if (error instanceof PageTooLongError) return undefined
    throw error
  }
}

function isDropped(element: Tree.Element): boolean {
  return (
    DROPPED.has(element.tagName) ||
    element.namespaceURI !== written.NS.HTML ||
    element.attrs.some(({ name }) => name === 'hidden')
  )
}

/** The text of an element, however deep. */
function wordsOf(element: Tree.Element): string {
  const words: string[] = []
  const open: Tree.ChildNode[] = [element]
  for (let node = open.pop(); node; node = open.pop()) {
    if ('value' in node) words.push(node.value)
    else if ('tagName' in node && !isDropped(node)) open.push(...node.childNodes.toReversed())
  }
  return words.join('')
}

function hasWords(part: Part): boolean {
  return part.children.some((child) =>
    typeof child === 'string' ? child.trim() !== '' : child.src !== undefined || hasWords(child),
  )
}
