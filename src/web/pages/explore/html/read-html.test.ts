import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readHtml, type Content, type Part } from './read-html.ts'

const URL_OF_PAGE = 'https://shop.example/articles/one'

/** The page in short: `p(words em(more))`. */
function spell(content: Content): string {
  if (typeof content === 'string') return content.replace(/\s+/g, ' ')
  const { tag, href, src, alt, children } = content
  const facts = [href, src && 'data', alt === undefined || src ? undefined : `alt=${alt}`]
    .filter(Boolean)
    .join(' ')
  return `${tag}${facts && `[${facts}]`}(${children.map(spell).join('')})`
}

const read = (html: string) => {
  const page = readHtml(html, URL_OF_PAGE)
  return page && page.children.map(spell).join('').trim()
}

test('an article keeps its words and their order', () => {
  expect(
    read(
      '<!doctype html><html><head><title>T</title><style>p{}</style></head><body><main><h1>Head</h1><p>One <em>two</em></p></main></body></html>',
    ),
  ).toBe('div(h1(Head)p(One em(two)))')
  expect(
    read('<!doctype html><ul><li>a<li>b</ul><p>x<p>y<table><tr><td>1<td>2<tr><td>3</table>'),
  ).toBe('ul(li(a)li(b))p(x)p(y)table(tbody(tr(td(1)td(2))tr(td(3))))')
  expect(read('<b>bold <i>both</b> after</i>')).toBe('strong(bold em(both))em( after)')
  expect(read('a &amp; b &lt;c&gt; &eacute; &#8364; &#x1F600; &unknown; &#150; <3')).toBe(
    'a & b <c> é € 😀 &unknown; – <3',
  )
})

test('nothing acts: no code, no handler, no address that is loaded', () => {
  for (const html of [
    '<p>ok<script>alert(1)</script></p>',
    '<p onclick="alert(1)" style="position:fixed" class="x" id="y">ok</p>',
    '<p>ok</p><iframe src="https://evil.example"></iframe><object data="x"><p>inside</p></object>',
    '<p>ok</p><svg><script>alert(1)</script><a href="javascript:alert(1)">x</a></svg>',
    '<p>ok</p><script>document.write("</p>")<p>still code',
    '<p>ok</p><link rel="stylesheet" href="https://evil.example/x.css"><meta http-equiv="refresh" content="0;url=https://evil.example">',
    '<p>ok</p><template><img src=x onerror=alert(1)></template>',
    '<p>ok<!-- <img src=x onerror=alert(1)> --></p>',
    '<p>ok</p><style>@import "https://evil.example/x.css"</style>',
  ]) {
    expect(read(html), html).toBe('p(ok)')
  }
})

test('a link leads to the web or nowhere, a picture is the page’s own or not there', () => {
  expect(
    read(
      '<a href="/next">n</a><a href="javascript:alert(1)">j</a><a href="JaVaScript&#58;alert(1)">k</a><a href="data:text/html,x">d</a>',
    ),
  ).toBe('a[https://shop.example/next](n)a(j)a(k)a(d)')
  expect(
    read(
      'x<img src="https://evil.example/pixel.gif" alt="A chart"><img src="data:image/png;base64,AAAA"><img src="data:image/svg+xml;base64,AAAA">',
    ),
  ).toBe('ximg[alt=A chart]()img[data]()img()')
})

test('what belongs to no table stands before it, and parts of no table are plain', () => {
  expect(read('<table>loose<tr><td>in</td></tr></table>')).toContain('loose')
  expect(read('<div><tr><td>x</td></tr></div>')).toBe('div(x)')
})

test('what is hidden or without a word is not shown, and what is endless not either', () => {
  expect(read('<div hidden><p>secret</p></div><p>open</p>')).toBe('p(open)')
  expect(read('<script>alert(1)</script>')).toBeUndefined()
  expect(read('<p>x'.repeat(20_000))).toBeUndefined()
  expect(read('<div>'.repeat(5_000) + 'deep')).toContain('deep')
})

test('a page of nothing but beginnings is read in a moment', () => {
  for (const piece of [
    '<a ',
    '<a "',
    `<a '"`,
    '<',
    '<!',
    '</p',
    '&#',
    '<p x="',
    '<div>',
    '<b>',
    '<a><p>',
    '<table>',
    '<table><tr><td>',
    '<p><b><i>',
  ]) {
    const started = performance.now()
    readHtml(piece.repeat(200_000 / piece.length), URL_OF_PAGE)
    expect(performance.now() - started, piece).toBeLessThan(3_000)
  }
})

test('whatever a server writes, only known elements with web addresses come of it', () => {
  const fragment = fc.constantFrom(
    '<',
    '>',
    '/',
    '"',
    "'",
    '=',
    ' ',
    'p',
    'script',
    'a',
    'href',
    'img',
    'src',
    'javascript:',
    'table',
    'tr',
    'td',
    '&',
    ';',
    '#',
    '!--',
    '-->',
    'x',
  )
  fc.assert(
    fc.property(
      fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join('')),
      (html) => {
        const page = readHtml(html, URL_OF_PAGE)
        if (page) visit(page)
      },
    ),
    { numRuns: 2_000 },
  )
})

function visit(part: Part): void {
  expect(part.tag).toMatch(/^[a-z0-9]+$/)
  expect(['script', 'style', 'iframe', 'form', 'input']).not.toContain(part.tag)
  if (part.href !== undefined) expect(part.href).toMatch(/^https?:/)
  if (part.src !== undefined) expect(part.src).toMatch(/^data:image\//)
  for (const child of part.children) if (typeof child !== 'string') visit(child)
}
