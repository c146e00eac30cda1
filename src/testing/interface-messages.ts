import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../web/locales/en/', import.meta.url)
const MAIL = new URL('../bff/mail/locales/en.po', import.meta.url)
const MESSAGE_ID = /^msgid ((?:"(?:[^"\\]|\\.)*"\n)+)/gm

/**
 * Every text of the interface and of e-mails as written in its source, from the English catalogs. `npm run
 * i18n:extract` writes them, and a test keeps them complete.
 */
export function readMessages(): ReadonlySet<string> {
  const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.po'))
    .map((name) => new URL(name, FOLDER))
  const ids = [...files, MAIL].flatMap((file) => [
    ...readFileSync(file, 'utf8').matchAll(MESSAGE_ID),
  ])
  // Each line is a separate quoted string; a catalog begins with an empty id.
  return new Set(
    ids
      .map(([, lines = '']) => lines.trim().split('\n').map(unquote).join(''))
      .filter((id) => id !== ''),
  )
}

function unquote(line: string): string {
  const value: unknown = JSON.parse(line)
  return String(value)
}
