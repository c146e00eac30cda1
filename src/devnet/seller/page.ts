import { readFileSync } from 'node:fs'

const STYLE = `body{margin:0;background:#fbfaf7;color:#1c1f1d;font:1.0625rem/1.65 Georgia,'Times New Roman',serif}
main{max-width:38rem;margin:0 auto;padding:3rem 1.5rem 5rem}h1{font-size:2.25rem;line-height:1.15;letter-spacing:-.01em;margin:0 0 1.5rem}
h2{font-size:1.25rem;margin:2rem 0 .5rem}p{margin:0 0 1rem}code{font-size:.9em}
@media(prefers-color-scheme:dark){body{background:#161917;color:#e6e8e4}}`

/** Articles as one page. */
export function readPage(names: readonly string[], title: string): string {
  const text = names
    .map((name) => readFileSync(new URL(`articles/${name}.html`, import.meta.url), 'utf8'))
    .join('<hr>\n')
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>
<body><main>
${text}</main></body>
</html>
`
}
