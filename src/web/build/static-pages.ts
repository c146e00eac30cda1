import type { Plugin } from 'vite'

/** Where index.html says that the app lives: beside it. Written as it stands there. */
const BESIDE = '<base href="./" />'

/** Addresses of pages: `/payments`, `/payments/:paymentId`. */
type PagePaths = readonly string[]

/**
 * Writes one file for each way a host can be asked for a page, so that one build works under any path, with rewrite rules and without:
 * `<page>.html` for hosts that serve it at `/page`, `nested.html` for pages one level down, and `404.html` for hosts that know no rules:
 * it finds the page that the address ends with, and sends the browser to the app with it.
 */
export function staticPages(paths: PagePaths): Plugin {
  return {
    name: 'static-pages',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const index = bundle['index.html']
        if (index?.type !== 'asset') return
        const html = String(index.source)
        if (!html.includes(BESIDE))
          throw new Error(`index.html holds no ${BESIDE}: the other pages cannot be made from it.`)
        const emit = (fileName: string, source: string) =>
          this.emitFile({ type: 'asset', fileName, source })
        for (const path of paths) if (/^\/[a-z-]+$/.test(path)) emit(`${path.slice(1)}.html`, html)
        emit('nested.html', html.replace(BESIDE, '<base href="../" />'))
        emit('404.html', notFound(paths))
      },
    },
  }
}

/** Without a rule for it, a host answers a deep link with this file, at any depth: so nothing in it may be relative. */
function notFound(paths: PagePaths): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <title>Paydesk</title>
    <script>${returnScript(paths)}</script>
  </head>
  <body>
    <p>Page not found. The link may be old or mistyped.</p>
  </body>
</html>
`
}

/** The longest end of the address that is a page; what stands before it is where the app lives. `#/…` is read by src/web/router/location.ts. */
function returnScript(paths: PagePaths): string {
  const patterns = paths
    .filter((path) => path !== '/')
    .map((path) => path.replace(/:[a-zA-Z]+/g, '[^/]+').replaceAll('/', String.raw`\/`))
    .toSorted((one, other) => other.length - one.length)
  return `var found=/^(.*?)(${patterns.join('|')})\\/?$/.exec(location.pathname);if(found)location.replace(found[1]+'/#'+found[2]+location.search+location.hash)`
}
