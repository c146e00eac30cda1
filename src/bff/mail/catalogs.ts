import { readFileSync } from 'node:fs'
import { MAIL_LANGUAGES, type MailLanguage } from '#contract/mail-endpoints.ts'

/**
 * The texts of e-mails, in catalogs beside those of the dashboard: `npm run i18n:extract` writes
 * them too. They have values in braces and nothing else of ICU, so they are filled in here.
 */

/** Marks a text for `npm run i18n:extract`, as the macro of that name does in the dashboard. */
export function msg({ message }: { message: string }): string {
  return message
}

const ENTRY = /^msgid ((?:"(?:[^"\\]|\\.)*"\n)+)msgstr ((?:"(?:[^"\\]|\\.)*"\n?)+)/gm

const catalogs = new Map(MAIL_LANGUAGES.map((language) => [language, readCatalog(language)]))

/** A text in a language, with its values. A value is put in as it is: it holds no text to be filled. */
export function translate(
  language: MailLanguage,
  text: string,
  values: Readonly<Record<string, string>> = {},
): string {
  const translated = catalogs.get(language)?.get(text) ?? text
  return translated.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}

function readCatalog(language: MailLanguage): ReadonlyMap<string, string> {
  const file = readFileSync(new URL(`locales/${language}.po`, import.meta.url), 'utf8')
  return new Map(
    [...file.matchAll(ENTRY)].map(([, id = '', translation = '']) => [
      joinLines(id),
      joinLines(translation),
    ]),
  )
}

/** Each line of a catalog is a quoted string. */
function joinLines(lines: string): string {
  return lines
    .trim()
    .split('\n')
    .map((line) => String(JSON.parse(line)))
    .join('')
}
