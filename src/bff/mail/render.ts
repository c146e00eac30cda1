import type { MailKind, MailLanguage } from '#contract/mail-endpoints.ts'
import { msg, translate } from '#bff/mail/catalogs.ts'
import type { MailFacts } from '../db/mail-schema.ts'

/** What an email is made from. `moved`: to the address that a person had before. */
type MailContent = ((MailSubject & { unsubscribeUrl: string }) | { moved: true }) & {
  language: MailLanguage
  /** The dashboard, without a slash at the end: the one place that emails link to. */
  dashboardUrl: string
}

/** A code, or events: the first of them and how many there are. */
export type MailSubject =
  | { code: string }
  | { items: readonly { kind: MailKind; facts: MailFacts }[]; total: number }

/** So many events of a digest are listed. */
export const MOST_LISTED = 50

const TITLES: Readonly<Record<MailKind, string>> = {
  payment_confirmed: msg({ message: '{amount} {symbol} received' }),
  payment_finalized: msg({ message: '{amount} {symbol} finalized' }),
  unmatched: msg({ message: 'Unmatched payment: {amount} {symbol}' }),
  undelivered: msg({ message: 'Paid, not delivered: {amount} {symbol}' }),
  refund_request: msg({ message: 'Refund requested: {amount} {symbol}' }),
  refund_failed: msg({ message: 'Refund failed: {amount} {symbol}' }),
  webhook_dead: msg({ message: 'Webhook delivery failed' }),
}
const DIGEST = msg({ message: '{total} events' })
const MORE = msg({ message: 'And {more} more.' })
const CODE = msg({ message: 'Confirm your email address' })
const CODE_BODY = msg({
  message: 'Your code is {code}. Enter it in Settings within an hour.',
})
const CODE_UNKNOWN = msg({ message: 'Not you? Ignore this email.' })
const MOVED = msg({ message: 'Email address changed' })
const MOVED_BODY = msg({ message: 'This address no longer gets emails.' })
const MOVED_UNKNOWN = msg({
  message: 'Not you? Sign out other browsers and enter your address again.',
})
const PAYER = msg({ message: 'Payer: {sender}' })
const NETWORK = msg({ message: 'Network: {network}' })
const UNSUBSCRIBE = msg({ message: 'Stop these emails: {url}' })

/** The page that a person opens to stop emails, and what it says afterwards. */
export const UNSUBSCRIBE_WORDS = {
  question: msg({ message: 'Stop all emails?' }),
  button: msg({ message: 'Stop emails' }),
  done: msg({ message: 'You get no more emails.' }),
}

/**
 * Subject and plain text. They have no text that a payer typed, and no email address of anybody: a
 * viewer may read them, and nobody can put a link or a request into the merchant's own emails.
 */
export function renderMail(content: MailContent): { subject: string; text: string } {
  const { language, dashboardUrl } = content
  const write = (text: string, values: Record<string, string> = {}) =>
    translate(language, text, values)
  if ('code' in content)
    return {
      subject: write(CODE),
      text: lines([
        write(CODE_BODY, { code: content.code }),
        `${dashboardUrl}/settings`,
        '',
        write(CODE_UNKNOWN),
      ]),
    }
  if ('moved' in content)
    return {
      subject: write(MOVED),
      text: lines([write(MOVED_BODY), '', write(MOVED_UNKNOWN), `${dashboardUrl}/settings`]),
    }
  const { items, total, unsubscribeUrl } = content
  const titleOf = ({ kind, facts }: (typeof items)[number]) =>
    write(TITLES[kind], {
      amount: writeAmount(toLine(facts.amount ?? ''), language),
      symbol: toLine(facts.symbol ?? ''),
    })
  const linkOf = ({ kind, facts }: (typeof items)[number]) =>
    `${dashboardUrl}${pathOf(kind, facts)}`
  const footer = ['', write(UNSUBSCRIBE, { url: unsubscribeUrl })]
  const [first] = items
  if (first && total === 1)
    return {
      subject: titleOf(first),
      text: lines([
        titleOf(first),
        ...(first.facts.sender === undefined
          ? []
          : [write(PAYER, { sender: toLine(first.facts.sender) })]),
        ...(first.facts.network === undefined
          ? []
          : [write(NETWORK, { network: toLine(first.facts.network) })]),
        linkOf(first),
        ...footer,
      ]),
    }
  const more = total - items.length
  return {
    subject: write(DIGEST, { total: String(total) }),
    text: lines([
      ...items.flatMap((item) => [titleOf(item), linkOf(item), '']),
      ...(more > 0 ? [write(MORE, { more: String(more) })] : []),
      `${dashboardUrl}/payments`,
      ...footer,
    ]),
  }
}

function pathOf(kind: MailKind, { paymentId }: MailFacts): string {
  if (kind === 'webhook_dead') return '/developers'
  return paymentId === undefined ? '/' : `/payments/${encodeURIComponent(paymentId)}`
}

function lines(texts: readonly string[]): string {
  return `${texts.join('\n')}\n`
}

/**
 * A decimal with a point, as readers of this language write it. Most of those of Spanish write a comma. In Mexico a comma groups
 * thousands, but only before exactly three digits: three decimals get a zero.
 */
function writeAmount(amount: string, language: MailLanguage): string {
  return language === 'es' ? amount.replace(/\.[0-9]{3}$/, '$&0').replace('.', ',') : amount
}

/** One line of visible characters: no line breaks, no controls, nothing that turns the direction of writing. */
function toLine(text: string): string {
  return text
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 120)
}
