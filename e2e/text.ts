import { setupI18n } from '@lingui/core'
import { readMessages } from '#testing/interface-messages.ts'

/**
 * The texts of the interface, from its English catalogs in src/web/locales/en. A story names a text
 * by its message, with the names of its values in braces: when the wording changes, one search
 * finds each use, and a text that no catalog has fails at once.
 */

type Values = Readonly<Record<string, string | number>>

const messages = readMessages()
const i18n = setupI18n({ locale: 'en', messages: { en: {} } })

/** A placeholder for a value that a story does not give. A character that no text contains. */
const ANY = '\u0000'

/**
 * A text as the page shows it.
 * @param message as in the catalog: `Connect {wallet} on {network}`
 * @throws when no catalog has the message, or a value is missing
 */
export function text(message: string, values: Values = {}): string {
  const rendered = render(message, values)
  if (rendered.includes(ANY)) {
    const given = Object.keys(values).join(', ') || 'none'
    throw new Error(
      `The text "${message}" needs values for ${namesIn(message).join(', ') || 'its elements'}; the story gives ${given}. textLike matches any.`,
    )
  }
  return rendered
}

/**
 * Matches a text with any values for those the story omits. Without anchors, as a string in a
 * locator has none.
 * @throws when no catalog has the message
 */
export function textLike(message: string, values: Values = {}): RegExp {
  return new RegExp(patternOf(message, values))
}

/** Matches what begins with a text: a row by its heading, a name followed by figures. */
export function startingWith(message: string, values: Values = {}): RegExp {
  return new RegExp(`^${patternOf(message, values)}`)
}

/** Matches exactly one of these texts, with the same values in each. */
export function oneOf(wanted: readonly string[], values: Values = {}): RegExp {
  const patterns = wanted.map((message) =>
    patternOf(
      message,
      Object.fromEntries(
        Object.entries(values).filter(([name]) => namesIn(message).includes(name)),
      ),
    ),
  )
  return new RegExp(`^(?:${patterns.join('|')})$`)
}

function patternOf(message: string, values: Values): string {
  return render(message, values)
    .replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
    .replaceAll(ANY, '.+?')
}

function render(message: string, values: Values): string {
  if (!messages.has(message))
    throw new Error(
      `No English catalog in src/web/locales/en has the text "${message}". Did its wording change?`,
    )
  const unknown = Object.keys(values).filter((name) => !namesIn(message).includes(name))
  if (unknown.length > 0)
    throw new Error(`The text "${message}" has no value ${unknown.join(', ')}.`)
  const rest = Object.fromEntries(namesIn(message).map((name) => [name, ANY]))
  // Elements inside a text are numbered tags in its message: a reader sees their content; an empty
  // one is filled by the page.
  return i18n
    ._({ id: message, message, values: { ...rest, ...values } })
    .replaceAll(/<\d+\/>/g, ANY)
    .replaceAll(/<\/?\d+>/g, '')
}

function namesIn(message: string): string[] {
  return [...new Set([...message.matchAll(/\{(\w+)(?=[,}])/g)].map(([, name = '']) => name))]
}
