import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Hono } from 'hono'
import { Marked } from 'marked'
import { addHeaders, respond } from './envelope.ts'
import type { HttpEnv } from './handler.ts'

/** The guides are the document itself, whose examples tests run. */
const GUIDES = new URL('../../../docs/INTEGRATION.md', import.meta.url)

const page = (title: string, styles: readonly string[], body: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
${styles.map((style) => `    <link rel="stylesheet" href="/docs/${style}">`).join('\n')}
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
  </head>
  <body>
${body}
  </body>
</html>
`

const links = (current: 'guides' | 'reference') => `    <header>
      <strong>Paydesk</strong>
      <nav aria-label="Documentation">
        <a href="/docs/"${current === 'guides' ? ' aria-current="page"' : ''}>Guides</a>
        <a href="/docs/reference"${current === 'reference' ? ' aria-current="page"' : ''}>API reference</a>
      </nav>
    </header>`

const REFERENCE = page(
  'Paydesk API reference',
  ['swagger-ui.css', 'docs.css'],
  `${links('reference')}
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>`,
)

/** The reference follows the reader's theme, as the guides do by themselves. */
const START = `const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()
window.ui = SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null, persistAuthorization: false })
`

const STYLE = `:root { --ink: #1a1f1b; --soft: #545d56; --canvas: #fbfbf9; --raised: #f1f2ee; --line: #dcdfd8; --accent: #14573c }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7ebe8; --soft: #a5afa8; --canvas: #101412; --raised: #1a201c; --line: #333b36; --accent: #7fd1aa }
}
* { box-sizing: border-box }
html { scroll-padding-top: 4.5rem }
body { margin: 0; background: var(--canvas); color: var(--ink); font: 16px/1.6 system-ui, sans-serif }
header { position: sticky; top: 0; z-index: 1; display: flex; gap: 1rem; align-items: center; padding: .75rem 1.25rem; background: var(--canvas); border-bottom: 1px solid var(--line) }
header nav { display: flex; gap: 1.25rem; margin-inline-start: auto }
a { color: var(--accent); text-underline-offset: .2em }
header a { padding: .35rem 0; color: var(--soft) }
a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1.25rem 6rem; overflow-wrap: break-word }
main h1 { font-size: 2rem; line-height: 1.2 }
main h2 { margin-top: 3.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: 1.4rem }
main > ul:first-of-type { columns: 16rem; padding-inline-start: 1.2rem }
main code { font: .875em ui-monospace, monospace }
main :not(pre) > code { padding: .1em .3em; background: var(--raised); border-radius: 4px }
main pre { overflow-x: auto; padding: 1rem; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; line-height: 1.5 }
.wide { overflow-x: auto }
main table { border-collapse: collapse; font-size: .9rem }
main th, main td { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top; min-width: 7rem }
`

/** Everything comes from this server. The reference sets inline styles and draws with data URLs, scripts it never inlines. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'"

const FILES = [
  { url: import.meta.resolve('swagger-ui-dist/swagger-ui.css'), type: 'text/css; charset=utf-8' },
  {
    url: import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
    type: 'text/javascript; charset=utf-8',
  },
  { url: import.meta.resolve('swagger-ui-dist/favicon-32x32.png'), type: 'image/png' },
]

const HTML = 'text/html; charset=utf-8'
const TEXTS = [
  { name: '', text: () => renderGuides(readFileSync(GUIDES, 'utf8')), type: HTML },
  { name: 'reference', text: () => REFERENCE, type: HTML },
  { name: 'docs.css', text: () => STYLE, type: 'text/css; charset=utf-8' },
  { name: 'start.js', text: () => START, type: 'text/javascript; charset=utf-8' },
]

/** Guides first, then the interactive reference, both served from what is installed: no other host is asked. */
export function mountDocs(app: Hono<HttpEnv>): void {
  app.use('/docs/*', async (c, next) => {
    c.set('route', 'docs')
    addHeaders(c, { 'content-security-policy': POLICY })
    await next()
  })
  app.get('/docs', (c) => {
    addHeaders(c, { location: '/docs/' })
    return respond(c, 308, null)
  })
  for (const { name, text, type } of TEXTS) {
    let known: string | undefined
    app.get(`/docs/${name}`, (c) => {
      addHeaders(c, { 'content-type': type })
      return respond(c, 200, (known ??= text()))
    })
  }
  for (const { url, type } of FILES) {
    // Read once: a copy for each of many clients that do not read would fill the memory.
    let file: Promise<Uint8Array<ArrayBuffer>> | undefined
    app.get(`/docs/${basename(url)}`, async (c) => {
      file ??= readFile(new URL(url)).then((bytes) => new Uint8Array(bytes))
      addHeaders(c, { 'content-type': type })
      return respond(c, 200, await file)
    })
  }
}

/** Headings get the anchors that the document links to. Links to other files of the repository become plain text. */
function renderGuides(markdown: string): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = text
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(/\s/g, '-')
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens)
        return /^(#|https:)/.test(href) ? `<a href="${href}">${text}</a>` : text
      },
      code({ text, lang }) {
        const label = `Example${lang ? `, ${lang}` : ''}`
        return `<pre tabindex="0" role="region" aria-label="${label}"><code>${escapeHtml(text)}</code></pre>\n`
      },
    },
  })
  const html = marked
    .parse(markdown, { async: false })
    .replaceAll(
      '<table>',
      '<div class="wide" tabindex="0" role="region" aria-label="Table"><table>',
    )
    .replaceAll('</table>', '</table></div>')
  return page('Paydesk guides', ['docs.css'], `${links('guides')}\n    <main>\n${html}    </main>`)
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
