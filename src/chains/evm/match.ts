import type { Hex } from 'viem'
import { EVM_NATIVE } from '#contract/address.ts'
import {
  addressFact,
  amountFact,
  fact,
  moneyOf,
  networkFact,
  type MatchFact,
} from '#contract/facts.ts'
import { familyOf, NATIVE_ETH, type Asset } from '#contract/network.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  conclude,
  equalRow,
  refuse,
} from '../match.ts'
import { decodeTransaction, type EvmFacts } from './decode.ts'
import { nameCall, readTransferCall } from './erc20.ts'
import { MAX_GAS, MIN_GAS } from './fee.ts'

/**
 * Compares a payment with the bytes of a transaction, unsigned or signed by the sender. `ok` means:
 * on this chain the transaction moves exactly this amount from its signer to this recipient, or
 * nothing, and can cost no more than the cap.
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
    equalRow('network', [intent.network, `eip155:${facts.chainId}`], networkFact),
    // An unsigned transaction has no sender: the wallet is asked for this account, and the
    // signature is checked against it.
    equalRow('sender', [intent.sender, facts.sender ?? intent.sender]),
    ...(intent.asset.native
      ? nativeRows(intent, facts, currency)
      : tokenRows(intent, facts, currency)),
    feeRow(intent, facts),
    equalRow('feePayer', [intent.sender, facts.sender ?? intent.sender]),
    equalRow('signers', [intent.sender, facts.sender ?? intent.sender]),
    { field: 'expiry', ok: true, expected: fact('until_nonce_used'), got: nonceFact(facts.nonce) },
    instructionsRow(intent, facts),
  ]
}

function nativeRows(intent: PaymentIntent, facts: EvmFacts, currency: Asset): MatchRow[] {
  const plain = facts.data === '0x'
  return [
    recipientRow(intent, facts.to),
    amountRow(intent, { atomic: facts.valueAtomic, fact: amountFact(facts.valueAtomic, currency) }),
    {
      field: 'asset',
      ok: intent.asset.address === EVM_NATIVE && plain,
      expected: currencyFact(intent.asset.symbol),
      got: plain
        ? currencyFact(currency.symbol)
        : facts.transfer
          ? tokenFact({ address: facts.to, symbol: null })
          : fact('called_contract_decides'),
    },
  ]
}

/**
 * Contract, recipient and amount are read from the call. It sends no value, and no other call
 * passes as a transfer.
 */
function tokenRows(intent: PaymentIntent, facts: EvmFacts, currency: Asset): MatchRow[] {
  const { transfer, data } = facts
  if (data === '0x') {
    return [
      recipientRow(intent, facts.to),
      amountRow(intent, { atomic: null, fact: amountFact(facts.valueAtomic, currency) }),
      {
        field: 'asset',
        ok: false,
        expected: tokenFact(intent.asset),
        got: currencyFact(currency.symbol),
      },
    ]
  }
  const own = facts.to === intent.asset.address
  const amount = transfer && {
    atomic: own ? transfer.amountAtomic : null,
    fact: own ? amountFact(transfer.amountAtomic, intent.asset) : otherUnits(transfer.amountAtomic),
  }
  return [
    recipientRow(intent, transfer?.recipient ?? null),
    amountRow(intent, amount ?? { atomic: null, fact: fact('called_contract_decides') }),
    {
      field: 'asset',
      ok: own && transfer !== null && intent.asset.address !== EVM_NATIVE,
      expected: tokenFact(intent.asset),
      got: own ? tokenFact(intent.asset) : { code: 'contract', params: { address: facts.to } },
    },
  ]
}

/** `got`: null where the called contract decides it. */
function recipientRow({ recipient, sender, asset }: PaymentIntent, got: string | null): MatchRow {
  return {
    field: 'recipient',
    // Money sent to a token's own contract is lost.
    ok: got === recipient && got !== sender && got !== asset.address,
    expected: addressFact(recipient),
    got: got === null ? fact('called_contract_decides') : addressFact(got),
  }
}

function amountRow(
  intent: PaymentIntent,
  got: { atomic: bigint | null; fact: MatchFact },
): MatchRow {
  const { amountAtomic, asset } = intent
  return {
    field: 'amount',
    ok: got.atomic === amountAtomic && amountAtomic > 0n,
    expected: amountFact(amountAtomic, asset),
    got: got.fact,
  }
}

function instructionsRow(
  { asset }: PaymentIntent,
  { data, gas, transfer, valueAtomic }: EvmFacts,
): MatchRow {
  const [within, withGas] = asset.native
    ? (['plain_transfer_within', 'plain_transfer_with'] as const)
    : (['token_transfer_within', 'token_transfer_with'] as const)
  const understood = asset.native ? data === '0x' : data !== '0x' && transfer !== null
  return {
    field: 'instructions',
    ok: understood && gas >= MIN_GAS && gas <= MAX_GAS,
    expected: { code: within, params: { gas: MAX_GAS.toString() } },
    got: understood
      ? { code: withGas, params: { gas: gas.toString() } }
      : callFact(data, valueAtomic),
  }
}

function callFact(data: Hex, valueAtomic: bigint): MatchFact {
  if (data === '0x') return fact('plain_transfer')
  const { selector, call: named } = nameCall(data)
  const call = readTransferCall(data)
    ? valueAtomic > 0n
      ? 'transfer_with_value'
      : 'transfer'
    : named
  return { code: 'contract_call', params: { selector, call, bytes: (data.length - 2) / 2 } }
}

export function currencyFact(symbol: string): MatchFact {
  return { code: 'currency', params: { symbol } }
}

/** `symbol`: null for a token without a known name. */
export function tokenFact({
  address,
  symbol,
}: {
  address: string
  symbol: string | null
}): MatchFact {
  return { code: 'token', params: { address, symbol, token2022: false } }
}

export function nonceFact(nonce: number): MatchFact {
  return { code: 'nonce', params: { nonce } }
}

export function atMost(atomic: bigint, asset: Asset): MatchFact {
  return { code: 'at_most', params: moneyOf(atomic, asset) }
}

/** An amount of a token whose decimals are not known. */
function otherUnits(atomic: bigint): MatchFact {
  return { code: 'smallest_units', params: { amountAtomic: atomic.toString() } }
}

export function feeRow(intent: PaymentIntent, facts: EvmFacts): MatchRow {
  const currency = currencyOf(intent)
  return {
    field: 'fee',
    ok: facts.feeBoundAtomic <= intent.maxFeeAtomic,
    expected: atMost(intent.maxFeeAtomic, currency),
    got: atMost(facts.feeBoundAtomic, currency),
  }
}

/** Everything that matters to the payer and the payee; the nonce and a fee below the cap do not. */
export function meaningOf(
  intent: PaymentIntent,
  facts: EvmFacts,
  feeAtomic = facts.feeBoundAtomic,
): string[] {
  const ceiling = feeAtomic <= intent.maxFeeAtomic ? intent.maxFeeAtomic : feeAtomic
  return [
    'evm',
    `eip155:${facts.chainId}`,
    facts.sender ?? intent.sender,
    facts.to,
    facts.valueAtomic.toString(),
    facts.data,
    ceiling.toString(),
  ]
}

/** The chain's own currency, as far as the intent names it: fees and values are shown in it. */
export function currencyOf(intent: PaymentIntent): Asset {
  if (familyOf(intent.network) === 'evm')
    return intent.asset.native ? intent.asset : (intent.currency ?? NATIVE_ETH)
  return {
    address: EVM_NATIVE,
    symbol: 'native',
    name: 'Native currency',
    decimals: 18,
    native: true,
  }
}
