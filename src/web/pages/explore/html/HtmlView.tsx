import { Trans } from '@lingui/react/macro'
import { useMemo, type ReactNode } from 'react'
import { readHtml, type Content, type Part, type Tag } from './read-html.ts'

/**
 * The text and structure of a page, in the dashboard's own styles. Headings are ranked below those
 * around them.
 */
const LOOK: Readonly<Record<Tag, { as: string; className?: string }>> = {
  div: { as: 'div' },
  p: { as: 'p', className: 'my-3' },
  h1: {
    as: 'h3',
    className: 'mt-6 mb-3 text-2xl leading-tight font-semibold tracking-tight first:mt-0',
  },
  h2: { as: 'h4', className: 'mt-6 mb-2 text-lg font-semibold' },
  h3: { as: 'h5', className: 'mt-5 mb-2 font-semibold' },
  h4: { as: 'h6', className: 'mt-4 mb-1 font-semibold' },
  h5: { as: 'h6', className: 'mt-4 mb-1 text-sm font-semibold' },
  h6: { as: 'h6', className: 'mt-4 mb-1 text-sm font-semibold' },
  ul: { as: 'ul', className: 'my-3 list-disc space-y-1 ps-6' },
  ol: { as: 'ol', className: 'my-3 list-decimal space-y-1 ps-6' },
  li: { as: 'li' },
  dl: { as: 'dl', className: 'my-3' },
  dt: { as: 'dt', className: 'mt-2 font-medium' },
  dd: { as: 'dd', className: 'ps-4' },
  blockquote: { as: 'blockquote', className: 'my-4 border-s-2 border-edge ps-4 text-muted' },
  pre: {
    as: 'pre',
    className: 'my-4 overflow-x-auto rounded-lg bg-sunken px-4 py-3 font-mono text-[13px]',
  },
  hr: { as: 'hr', className: 'my-6 border-line' },
  figure: { as: 'figure', className: 'my-4' },
  figcaption: { as: 'figcaption', className: 'mt-1 text-sm text-muted' },
  table: { as: 'table', className: 'my-4 w-full text-sm' },
  caption: { as: 'caption', className: 'mb-2 text-start text-sm text-muted' },
  thead: { as: 'thead', className: 'border-b border-line' },
  tbody: { as: 'tbody', className: 'divide-y divide-line' },
  tfoot: { as: 'tfoot', className: 'border-t border-line' },
  tr: { as: 'tr' },
  th: { as: 'th', className: 'py-1.5 pe-4 text-start align-top font-medium' },
  td: { as: 'td', className: 'py-1.5 pe-4 align-top' },
  a: { as: 'span' },
  br: { as: 'br' },
  em: { as: 'em' },
  strong: { as: 'strong', className: 'font-semibold' },
  code: { as: 'code', className: 'font-mono text-[0.9em]' },
  sub: { as: 'sub' },
  sup: { as: 'sup' },
  small: { as: 'small', className: 'text-sm' },
  s: { as: 's' },
  mark: { as: 'mark', className: 'rounded-sm bg-warn-soft text-warn-ink' },
  q: { as: 'q' },
  img: { as: 'span' },
}

/**
 * A page to read: built from our own elements, so nothing in it acts, loads or looks like the
 * dashboard. `url`: where it came from.
 */
export function HtmlView({ html, url }: { html: string; url: string }) {
  const page = useMemo(() => readHtml(html, url), [html, url])
  if (!page) {
    return (
      <p className="text-sm text-muted">
        <Trans>Preview unavailable. Save the file.</Trans>
      </p>
    )
  }
  return (
    <div
      className="mx-auto max-w-160 leading-relaxed break-words [unicode-bidi:isolate]"
      dir="auto"
    >
      {show(page.children)}
    </div>
  )
}

function show(children: readonly Content[]): ReactNode {
  return children.map((child, index) =>
    typeof child === 'string' ? child : <Shown key={index} part={child} />,
  )
}

function Shown({ part }: { part: Part }) {
  const { tag, href, src, alt, children } = part
  const { as: Element, className } = LOOK[tag] as { as: 'div'; className?: string }
  if (tag === 'img') return <Picture alt={alt} src={src} />
  if (tag === 'br' || tag === 'hr') return <Element className={className} />
  if (href !== undefined) return <Away href={href}>{show(children)}</Away>
  return <Element className={className}>{show(children)}</Element>
}

/** A link's text may say anything: its target is shown beside it. */
function Away({ href, children }: { href: string; children: ReactNode }) {
  const { host } = new URL(href)
  return (
    <a
      className="underline decoration-edge underline-offset-4 hover:decoration-current"
      href={href}
      rel="noopener noreferrer"
      target="_blank"
      title={href}
    >
      {children} <span className="text-sm text-muted">({host})</span>
    </a>
  )
}

/** External pictures are not fetched: their server would learn who reads. */
function Picture({ src, alt }: { src: string | undefined; alt: string | undefined }) {
  if (src !== undefined)
    return (
      <img alt={alt ?? ''} className="my-4 max-w-full rounded-lg border border-line" src={src} />
    )
  if (alt === '') return null
  return (
    <span className="text-sm text-muted">
      {alt === undefined ? (
        <Trans>[Picture, not loaded]</Trans>
      ) : (
        <Trans>[Image not loaded: {alt}]</Trans>
      )}
    </span>
  )
}
