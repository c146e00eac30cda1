import { EVM_NATIVE } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import { familyOf, type Asset } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'
import type { Match, MatchRow } from '../match.ts'
import { conclude, equalRow, refuse } from '../rows.ts'
import { decodeTransaction, type EvmFacts } from './decode.ts'
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
  const native = facts.data === '0x'
  return [
    equalRow('network', intent.network, `eip155:${facts.chainId}`),
    // An unsigned transaction names no sender: the wallet is asked for this account, and the signature is checked against it.
    equalRow('sender', intent.sender, facts.sender ?? intent.sender),
    { field: 'recipient', ok: facts.to === intent.recipient && facts.to !== intent.sender, expected: intent.recipient, got: facts.to },
    {
      field: 'amount',
      ok: facts.valueAtomic === intent.amountAtomic && intent.amountAtomic > 0n,
      expected: `${formatAmount(intent.amountAtomic, intent.asset.decimals)} ${intent.asset.symbol}`,
      got: `${formatAmount(facts.valueAtomic, currency.decimals)} ${currency.symbol}`,
    },
    {
      field: 'asset',
      ok: intent.asset.native && intent.asset.address === EVM_NATIVE && native,
      expected: intent.asset.symbol,
      got: native ? currency.symbol : 'decided by the contract that is called',
    },
    feeRow(intent, facts),
    equalRow('feePayer', intent.sender, facts.sender ?? intent.sender),
    equalRow('signers', intent.sender, facts.sender ?? intent.sender),
    { field: 'expiry', ok: true, expected: 'valid until its nonce is used', got: `nonce ${facts.nonce}` },
    {
      field: 'instructions',
      ok: native && facts.gas >= MIN_GAS && facts.gas <= MAX_GAS,
      expected: `a plain transfer within ${MAX_GAS} gas`,
      got: native ? `a plain transfer with ${facts.gas} gas` : `a contract call of ${(facts.data.length - 2) / 2} bytes`,
    },
  ]
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
  if (intent.asset.native && familyOf(intent.network) === 'evm') return intent.asset
  return { address: EVM_NATIVE, symbol: 'native', name: 'Native currency', decimals: 18, native: true }
}
