import type { MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { i18n } from '../locales/i18n.ts'
import { separators } from '../locales/decimal.ts'
import { formatNumber, numberLocale } from '../locales/formats.ts'

/** What comparisons say in words of their own: of a transaction (`src/chains`), of a proof (the service, and the page that checks it); names, addresses and amounts are the same in every language. */
export const PHRASES: Readonly<Record<string, MessageDescriptor>> = {
  none: msg`none`,
  nothing: msg`nothing`,
  'a plain transfer': msg`a plain transfer`,
  'one transfer': msg`one transfer`,
  'one transfer of the token': msg`one transfer of the token`,
  'one memo': msg`one memo`,
  'compute limit': msg`a limit for the fee`,
  'compute price': msg`a price for the fee`,
  transfer: msg`transfer`,
  'token transfer': msg`transfer of a token`,
  memo: msg`memo`,
  'wallet guard': msg`a guard of the wallet`,
  'token account opened': msg`token account opened`,
  'the recipient’s token account opened if it is missing': msg`the recipient’s token account opened if it is missing`,
  'another call': msg`another call`,
  'a note, which moves nothing': msg`a note, which moves nothing`,
  'one approval, which moves nothing': msg`one approval, which moves nothing`,
  'the payer’s authorization, carried out, and nothing else': msg`the payer’s authorization, carried out, and nothing else`,
  'a token': msg`a token`,
  'not one transfer of SOL': msg`not one transfer of SOL`,
  'decided by the blockhash': msg`decided by the blockhash`,
  'a blockhash this network does not know': msg`a blockhash this network does not know`,
  'a recent blockhash': msg`a recent blockhash`,
  'a durable nonce, which does not expire': msg`a durable nonce, which does not expire`,
  'valid until its nonce is used': msg`valid until its nonce is used`,
  'decided by the contract that is called': msg`decided by the contract that is called`,
  'reverted: nothing was moved': msg`taken back: nothing was moved`,
  'a plain payment': msg`a plain payment`,
  'carried out': msg`carried out`,
  failed: msg`failed`,
  confirmed: msg`confirmed`,
  'an x402 payment': msg`an x402 payment`,
  'such a payload': msg`such a payload`,
  'such a payment': msg`such a payment`,
  'the payload of its method': msg`the payload of its method`,
  'never used': msg`never used`,
  used: msg`used`,
  never: msg`never`,
  'never carried out': msg`never carried out`,
  'not carried out': msg`not carried out`,
  accepted: msg`accepted`,
  nobody: msg`nobody`,
  'the payer': msg`the payer`,
  one: msg`one`,
  valid: msg`valid`,
  'not valid': msg`not valid`,
  'not named': msg`not named`,
  'landed and succeeded': msg`landed and succeeded`,
  'a payer other than the payee': msg`a payer other than the payee`,
}

/** Such words in the reader's language and way of writing figures. What is not known stands as it came: nothing is left out of a comparison. */
export function sayMatch(text: string): string {
  const phrase = say(text)
  if (phrase !== undefined) return phrase
  const [, most, amount = '', unit = ''] = /^(at most )?([0-9]+(?:\.[0-9]+)?) (\S+)$/.exec(text) ?? []
  const count = Number(amount)
  if (unit === 'blocks') return t`${plural(count, { one: '# block', other: '# blocks' })}`
  if (unit !== '') {
    const money = `${writeDecimal(amount)} ${unit}`
    return most ? t`at most ${money}` : money
  }
  const [, symbol = '', address] = /^(\S+), the token (\S+)$/.exec(text) ?? []
  if (address !== undefined) return t`${symbol}, the token ${address}`
  const [, kind = '', word, gas = ''] = /^(.+) (with|within) ([0-9]+) gas$/.exec(text) ?? []
  const said = say(kind)
  if (said !== undefined) {
    const units = formatNumber(Number(gas))
    return word === 'with' ? t`${said}, with ${units} gas` : t`${said}, within ${units} gas`
  }
  const parts = text.split(', ').map(say)
  return parts.length > 1 && parts.every((part) => part !== undefined) ? parts.join(', ') : text
}

function say(text: string): string | undefined {
  return Object.hasOwn(PHRASES, text) ? i18n._(PHRASES[text] as MessageDescriptor) : undefined
}

/** `1234.5` as the reader writes it. Every digit stays. */
function writeDecimal(plain: string): string {
  const { group, point } = separators(numberLocale())
  const [whole = '', fraction] = plain.split('.')
  const grouped = whole.replace(/\B(?=([0-9]{3})+$)/g, group)
  return fraction === undefined ? grouped : `${grouped}${point}${fraction}`
}
