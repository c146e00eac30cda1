import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Hono } from 'hono'
import type { HttpEnv } from './env.ts'

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Paydesk API reference</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`

const START = `window.ui = SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null, persistAuthorization: false })
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

/** The interactive reference, served from the installed package: no other host is asked. */
export function mountDocs(app: Hono<HttpEnv>): void {
  app.use('/docs/*', async (c, next) => {
    c.set('route', 'docs')
    c.header('Content-Security-Policy', POLICY)
    await next()
  })
  app.get('/docs', (c) => c.redirect('/docs/', 308))
  app.get('/docs/', (c) => c.body(PAGE, 200, { 'Content-Type': 'text/html; charset=utf-8' }))
  app.get('/docs/start.js', (c) =>
    c.body(START, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  )
  for (const { url, type } of FILES) {
    // Read once: a copy for each of many clients that do not read would fill the memory.
    let file: Promise<Uint8Array<ArrayBuffer>> | undefined
    app.get(`/docs/${basename(url)}`, async (c) => {
      file ??= readFile(new URL(url)).then((bytes) => new Uint8Array(bytes))
      return c.body(await file, 200, { 'Content-Type': type })
    })
  }
}
