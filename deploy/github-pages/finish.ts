import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contentSecurityPolicy } from '#contract/site-headers.ts'

/**
 * Makes a build fit for GitHub Pages, which sends no headers of ours: `node deploy/github-pages/finish.ts dist`, with PROXY_URL and CONNECT in the
 * environment. Writes config.json, and puts the page's policy into every page as a `<meta>`. A `<meta>` cannot forbid framing: a host that can
 * send headers is the better one.
 */

const [folder] = process.argv.slice(2)
const { PROXY_URL, CONNECT = '' } = process.env
if (!folder || !PROXY_URL)
  throw new Error(
    'Usage: PROXY_URL=https://… CONNECT="https://… https://…" node deploy/github-pages/finish.ts dist',
  )

await writeFile(join(folder, 'config.json'), `${JSON.stringify({ proxyUrl: PROXY_URL })}\n`)
// Jekyll would leave out what begins with an underscore.
await writeFile(join(folder, '.nojekyll'), '')
const policy = contentSecurityPolicy([
  new URL(PROXY_URL).origin,
  ...CONNECT.split(/\s+/).filter(Boolean),
])
for (const name of await readdir(folder)) {
  if (!name.endsWith('.html')) continue
  const path = join(folder, name)
  await writeFile(path, withPolicy(await readFile(path, 'utf8')))
}

/** What a `<meta>` may not say is left out; the one inline script there is, of 404.html, is allowed by its hash. */
function withPolicy(html: string): string {
  const inline = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  const said = policy
    .replace(/ frame-ancestors [^;]+;/, '')
    .replace("script-src 'self'", ["script-src 'self'", ...inline].join(' '))
  return html.replace(
    /(<meta charset="utf-8" \/>)/,
    `$1\n    <meta http-equiv="Content-Security-Policy" content="${said}" />`,
  )
}
