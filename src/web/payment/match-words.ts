import type { MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import type { MatchRow } from '#chains/match.ts'
import { i18n } from '../locales/i18n.ts'
import { separators } from '../locales/decimal.ts'
import { formatNumber, numberLocale } from '../locales/formats.ts'

/** What is compared. */
export const FIELD_NAMES: Readonly<Record<MatchRow['field'], MessageDescriptor>> = {
  network: msg`Network`,
  sender: msg`From`,
  recipient: msg`To`,
  amount: msg`Amount`,
  asset: msg`Currency`,
  spender: msg`Taken by`,
  contract: msg`By the rules of`,
  fee: msg`Network fee`,
  rent: msg`Account rent`,
  feePayer: msg`Fee paid by`,
  signers: msg`Signed by`,
  memo: msg`Memo`,
  expiry: msg`Good until`,
  instructions: msg`What it does`,
}

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
  'paid by the sender': msg`paid by the sender`,
  'reverted: nothing was allowed': msg`taken back: nothing was allowed`,
  reverted: msg`taken back`,
  'another transaction': msg`another transaction`,
  'another instruction': msg`another instruction`,
  'landed in a block': msg`landed in a block`,
  'landed in a slot': msg`landed in a slot`,
  'not signed': msg`not signed`,
  'the transaction that was reviewed': msg`the transaction that was reviewed`,
  'one transfer of the token, once': msg`one transfer of the token, once`,
  'a payment that can be read to its last byte': msg`a payment that can be read to its last byte`,
  'failed: nothing was moved': msg`failed: nothing was moved`,
  'nothing, without one limit and one price': msg`nothing, without one limit and one price`,
  'decided by another instruction': msg`decided by another instruction`,
  'a valid signature of every signer but the sponsor': msg`a valid signature of every signer but the sponsor`,
  'all of them': msg`all of them`,
  'nothing: the account is there': msg`nothing: the account is there`,
  'a signature of nobody': msg`a signature of nobody`,
  'a token that names no domain': msg`a token that names no domain`,
  'a token that takes authorizations': msg`a token that takes authorizations`,
  'base58 of 64 bytes': msg`base58 of 64 bytes`,
  'a plain EIP-1559 transaction': msg`a plain EIP-1559 transaction`,
  'the signature of the payer': msg`the signature of the payer`,
  'an EVM address': msg`an EVM address`,
  'an offer': msg`an offer`,
  'the terms that were signed': msg`the terms that were signed`,
  'never used, or used for the same question': msg`never used, or used for the same question`,
  'the same question': msg`the same question`,
  'confirmed by the policy of the network': msg`confirmed by the policy of the network`,
  'the id of a payment of this account': msg`the id of a payment of this account`,
  'a v0 or legacy transaction without lookup tables': msg`a v0 or legacy transaction without lookup tables`,
  'a v0 or legacy transaction': msg`a v0 or legacy transaction`,
  'base64 of an x402 payment': msg`base64 of an x402 payment`,
  settled: msg`settled`,
  landed: msg`landed`,
  'never broadcast, or with the memo that was asked for': msg`never broadcast, or with the memo that was asked for`,
  'carried out or taken back': msg`carried out or taken back`,
  'somebody else': msg`somebody else`,
  'something else': msg`something else`,
  'the transfer, as it was signed': msg`the transfer, as it was signed`,
  'a call': msg`a call`,
  'a signature of 64 bytes': msg`a signature of 64 bytes`,
  'the token’s name is not in the proof': msg`the token’s name is not in the proof`,
  'a token account': msg`a token account`,
  'a transaction that can be read': msg`a transaction that can be read`,
  'not in the receipt': msg`not in the receipt`,
  'the signed transaction': msg`the signed transaction`,
  'another transaction than the payer’s': msg`another transaction than the payer’s`,
  'for ever': msg`for ever`,
  'what the payer signed, or the API key of the payee': msg`what the payer signed, or the API key of the payee`,
  'the name of a transaction': msg`the name of a transaction`,
  'another order': msg`another order`,
  'no resource': msg`no resource`,
  'never broadcast before it is presented': msg`never broadcast before it is presented`,
  reserved: msg`reserved`,
  'the payer’s contract says no': msg`the payer’s contract says no`,
}

/** The same with a name, an amount or another phrase in it. */
const SENTENCES: readonly (readonly [RegExp, (one: string, other: string) => string])[] = [
  [/^([0-9]+) blocks$/, (count) => t`${plural(Number(count), { one: '# block', other: '# blocks' })}`],
  [/^([0-9]+) transfers$/, (count) => t`${plural(Number(count), { one: '# transfer', other: '# transfers' })}`],
  [/^([0-9]+) signers$/, (count) => t`${plural(Number(count), { one: '# signer', other: '# signers' })}`],
  [/^([0-9]+) wallet guards$/, (count) => t`${plural(Number(count), { one: '# guard of the wallet', other: '# guards of the wallet' })}`],
  [
    /^([0-9]+) units at ([0-9]+) micro-lamports$/,
    (units, price) => t`${{ units: formatNumber(Number(units)) }} units at ${{ price: formatNumber(Number(price)) }} micro-lamports`,
  ],
  [/^([0-9]+(?:\.[0-9]+)?) (\S+)$/, (amount, unit) => `${writeDecimal(amount)} ${unit}`],
  [/^at most (.+)$/, (most) => t`at most ${{ money: sayMatch(most) }}`],
  [/^one limit of at most ([0-9]+)$/, (most) => t`one limit of at most ${{ units: formatNumber(Number(most)) }}`],
  [/^([0-9]+) at least, beside what is promised already$/, (least) => t`at least ${least}, beside what is promised already`],
  [/^([0-9]+), of which ([0-9]+) is promised$/, (available, promised) => t`${available}, of which ${promised} is promised`],
  [/^an order for (.+)$/, (resource) => t`an order for ${{ said: sayMatch(resource) }}`],
  [/^the order (\S+) for (.+)$/, (order, resource) => t`the order ${order} for ${{ said: sayMatch(resource) }}`],
  [/^([0-9]+) at least$/, (least) => t`at least ${least}`],
  [/^(\S+), the token (\S+)$/, (symbol, address) => t`${symbol}, the token ${address}`],
  [/^the token (\S+)$/, (address) => t`the token ${address}`],
  [/^the contract (\S+)$/, (address) => t`the contract ${address}`],
  [/^the token accounts of (.+)$/, (owners) => t`the token accounts of ${owners}`],
  [/^the payload of (.+)$/, (method) => t`the payload of ${method}`],
  [/^one plain transfer of (\S+)$/, (symbol) => t`one plain transfer of ${symbol}`],
  [/^another call \((.+)\)$/, (name) => t`another call (${name})`],
  [/^none of (.+)$/, (names) => t`none of ${names}`],
  [/^nonce ([0-9]+)$/, (nonce) => t`nonce ${nonce}`],
  [/^block ([0-9]+)$/, (height) => t`block ${height}`],
  [/^slot ([0-9]+)$/, (slot) => t`slot ${slot}`],
  [/^height ([0-9]+)$/, (height) => t`height ${height}`],
  [/^version ([0-9]+)$/, (version) => t`version ${version}`],
  [/^valid from (\S+) at the latest$/, (time) => t`valid from ${time} at the latest`],
  [/^valid until (\S+) at least$/, (time) => t`valid until ${time} at least`],
  [/^until (.+)$/, (time) => t`until ${{ time: sayMatch(time) }}`],
  [/^(?:from )?([0-9]\S*) to ([0-9]\S*|for ever)$/, (from, to) => t`from ${from} to ${{ to: sayMatch(to) }}`],
  [/^(.+) with ([0-9]+) gas$/, (kind, gas) => t`${{ said: sayMatch(kind) }}, with ${{ units: formatNumber(Number(gas)) }} gas`],
  [/^(.+) within ([0-9]+) gas$/, (kind, gas) => t`${{ said: sayMatch(kind) }}, within ${{ units: formatNumber(Number(gas)) }} gas`],
  [/^(.+) in ([0-9]+) transfers$/, (sum, count) => t`${{ sum: sayMatch(sum) }} in ${count} transfers`],
  [/^(.+) by what the token says it moved$/, (sum) => t`${{ sum: sayMatch(sum) }} by what the token says it moved`],
  [/^(.+), by the balance of (\S+)$/, (sum, owner) => t`${{ sum: sayMatch(sum) }}, by the balance of ${owner}`],
  [/^(.+), without one limit and one price$/, (fee) => t`${{ fee: sayMatch(fee) }}, without one limit and one price`],
  [/^(.+), with a signature that is not theirs$/, (signers) => t`${signers}, with a signature that is not theirs`],
  [/^(.+), without a good signature of (.+)$/, (what, names) => t`${{ what: sayMatch(what) }}, without a good signature of ${names}`],
]

/** What others wrote stands as they wrote it. */
const OTHERS_WORDS: ReadonlySet<string> = new Set(['memo', 'text', 'resource'])

/**
 * Such words in the reader's language and way of writing figures. What is not known stands as it came: nothing is left out of a comparison.
 * @param name of what is compared
 */
export function sayMatch(text: string, name?: string): string {
  return (name !== undefined && OTHERS_WORDS.has(name) ? say(text) : sayKnown(text)) ?? text
}

/** Undefined where there is nothing to say in words: names, addresses, what others wrote. */
export function sayKnown(text: string): string | undefined {
  const phrase = say(text)
  if (phrase !== undefined) return phrase
  for (const [pattern, tell] of SENTENCES) {
    const found = pattern.exec(text)
    if (found) return tell(found[1] ?? '', found[2] ?? '')
  }
  const parts = text.split(', ')
  const known = parts.length > 1 ? parts.map(sayKnown) : [undefined]
  return known.includes(undefined) ? undefined : known.join(', ')
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
