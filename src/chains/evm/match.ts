import type { Hex } from 'viem'
import { EVM_NATIVE } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import { familyOf, NATIVE_ETH, type Asset } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'
import type { Match, MatchRow } from '../match.ts'
import { conclude, equalRow, refuse } from '../rows.ts'
import { decodeTransaction, type EvmFacts } from './decode.ts'
import { nameCall, readTransferCall } from './erc20.ts'
import { MAX_GAS, MIN_GAS } from './fee.ts'

/**
 * Compares a payment with the bytes of a transaction, unsigned or signed by the sender. `ok` means: on this chain the transaction
 * moves exactly this amount from whoever signs it to this recipient, or nothing, and can cost no more than the cap.
 */
export function matchTransaction(intent: PaymentIntent, bytes: Uint8Array): Match {
  const decoded = decodeTransaction(bytes, currencyOf(intent))
  if (!decoded.ok) return refuse(decoded.problem, bytes)
  return conclude(matchRows(intent, decoded), meaningOf(intent, decoded))
}

/** The rows that bytes and landed transactions share. */
export function matchRows(intent: PaymentIntent, facts: EvmFacts): MatchRow[] {
  const currency = currencyOf(intent)
  return [
    equalRow('network', intent.network, `eip155:${facts.chainId}`),
    // An unsigned transaction names no sender: the wallet is asked for this account, and the signature is checked against it.
    equalRow('sender', intent.sender, facts.sender ?? intent.sender),
    ...(intent.asset.native ? nativeRows(intent, facts, currency) : tokenRows(intent, facts, currency)),
    feeRow(intent, facts),
    equalRow('feePayer', intent.sender, facts.sender ?? intent.sender),
    equalRow('signers', intent.sender, facts.sender ?? intent.sender),
    { field: 'expiry', ok: true, expected: 'valid until its nonce is used', got: `nonce ${facts.nonce}` },
    instructionsRow(intent, facts),
  ]
}

function nativeRows(intent: PaymentIntent, facts: EvmFacts, currency: Asset): MatchRow[] {
  const plain = facts.data === '0x'
  return [
    recipientRow(intent, facts.to),
    amountRow(intent, { atomic: facts.valueAtomic, words: spell(facts.valueAtomic, currency) }),
    {
      field: 'asset',
      ok: intent.asset.address === EVM_NATIVE && plain,
      expected: intent.asset.symbol,
      got: plain ? currency.symbol : facts.transfer ? `the token ${facts.to}` : 'decided by the contract that is called',
    },
  ]
}

/** Contract, recipient and amount come from the calldata; no value goes along, and no other call passes for a transfer. */
function tokenRows(intent: PaymentIntent, facts: EvmFacts, currency: Asset): MatchRow[] {
  const { transfer, data } = facts
  if (data === '0x') {
    const words = spell(facts.valueAtomic, currency)
    return [
      recipientRow(intent, facts.to),
      amountRow(intent, { atomic: null, words }),
      { field: 'asset', ok: false, expected: describeToken(intent.asset), got: currency.symbol },
    ]
  }
  const own = facts.to === intent.asset.address
  const amount = transfer && {
    atomic: own ? transfer.amountAtomic : null,
    words: own ? spell(transfer.amountAtomic, intent.asset) : `${transfer.amountAtomic} of the smallest units of another token`,
  }
  return [
    recipientRow(intent, transfer?.recipient ?? 'decided by the contract that is called'),
    amountRow(intent, amount ?? { atomic: null, words: 'decided by the contract that is called' }),
    {
      field: 'asset',
      ok: own && transfer !== null && intent.asset.address !== EVM_NATIVE,
      expected: describeToken(intent.asset),
      got: own ? describeToken(intent.asset) : `the contract ${facts.to}`,
    },
  ]
}

function recipientRow({ recipient, sender, asset }: PaymentIntent, got: string): MatchRow {
  // What is sent to a token's own contract is lost.
  return { field: 'recipient', ok: got === recipient && got !== sender && got !== asset.address, expected: recipient, got }
}

function amountRow(intent: PaymentIntent, got: { atomic: bigint | null; words: string }): MatchRow {
  const { amountAtomic, asset } = intent
  return { field: 'amount', ok: got.atomic === amountAtomic && amountAtomic > 0n, expected: spell(amountAtomic, asset), got: got.words }
}

function instructionsRow({ asset }: PaymentIntent, { data, gas, transfer, valueAtomic }: EvmFacts): MatchRow {
  const kind = asset.native ? 'a plain transfer' : 'one transfer of the token'
  const understood = asset.native ? data === '0x' : data !== '0x' && transfer !== null
  return {
    field: 'instructions',
    ok: understood && gas >= MIN_GAS && gas <= MAX_GAS,
    expected: `${kind} within ${MAX_GAS} gas`,
    got: understood ? `${kind} with ${gas} gas` : describeCall(data, valueAtomic),
  }
}

function describeCall(data: Hex, valueAtomic: bigint): string {
  if (data === '0x') return 'a plain transfer'
  const words = readTransferCall(data) ? (valueAtomic > 0n ? 'transfer, with value beside it' : 'transfer of a token') : nameCall(data)
  return `a contract call of ${(data.length - 2) / 2} bytes (${words})`
}

function describeToken({ symbol, address }: Asset): string {
  return `${symbol}, the token ${address}`
}

function spell(atomic: bigint, { decimals, symbol }: Asset): string {
  return `${formatAmount(atomic, decimals)} ${symbol}`
}

function feeRow(intent: PaymentIntent, facts: EvmFacts): MatchRow {
  const { decimals, symbol } = currencyOf(intent)
  return {
    field: 'fee',
    ok: facts.feeBoundAtomic <= intent.maxFeeAtomic,
    expected: `at most ${formatAmount(intent.maxFeeAtomic, decimals)} ${symbol}`,
    got: `at most ${formatAmount(facts.feeBoundAtomic, decimals)} ${symbol}`,
  }
}

/** Everything that matters to the payer and the payee; the nonce and a fee below the cap do not. */
export function meaningOf(intent: PaymentIntent, facts: EvmFacts, feeAtomic = facts.feeBoundAtomic): string[] {
  const ceiling = feeAtomic <= intent.maxFeeAtomic ? intent.maxFeeAtomic : feeAtomic
  return ['evm', `eip155:${facts.chainId}`, facts.sender ?? intent.sender, facts.to, facts.valueAtomic.toString(), facts.data, ceiling.toString()]
}

/** The chain's own currency, as far as the intent names it: fees and values are told in it. */
export function currencyOf(intent: PaymentIntent): Asset {
  if (familyOf(intent.network) === 'evm') return intent.asset.native ? intent.asset : (intent.currency ?? NATIVE_ETH)
  return { address: EVM_NATIVE, symbol: 'native', name: 'Native currency', decimals: 18, native: true }
}
