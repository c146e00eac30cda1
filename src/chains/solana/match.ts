import { SOLANA_NATIVE } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'
import type { Match, MatchRow } from '../match.ts'
import { conclude, equalRow, refuse } from '../rows.ts'
import { decodeTransaction, type SolanaFacts } from './decode.ts'
import { MAX_UNIT_PRICE, MAX_UNITS } from './fee.ts'
import { spellOperation, type Operation } from './operations.ts'
import { SYSTEM_PROGRAM } from './programs.ts'
import { verifySignature } from './signature.ts'

export type MatchOptions = {
  /** Whether a wallet may have added up to three Lighthouse assertions. Only for bytes that come back from a wallet or the chain. */
  allowGuards?: boolean
  /** Whether the payer's own node knows the blockhash: the only thing in a Solana transaction that tells the cluster. */
  blockhashKnown?: boolean
}

const MAX_GUARDS = 3

/**
 * Compares a payment with the bytes of a transaction, unsigned or signed by the sender. `ok` means: the transaction moves exactly
 * this amount from the sender to this recipient under this payment's memo, or nothing, and can cost no more than the cap.
 */
export function matchTransaction(intent: PaymentIntent, bytes: Uint8Array, options: MatchOptions = {}): Match {
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) return refuse(decoded.problem, bytes)
  return conclude(matchRows(intent, decoded, options), meaningOf(intent, decoded))
}

/** The rows that bytes and landed transactions share. */
export function matchRows(intent: PaymentIntent, facts: SolanaFacts, options: MatchOptions): MatchRow[] {
  const transfers = facts.operations.filter((operation) => operation.kind === 'transfer')
  const memos = facts.operations.filter((operation) => operation.kind === 'memo')
  const one = transfers.length === 1
  const total = transfers.reduce((sum, { lamports }) => sum + lamports, 0n)
  const list = (values: readonly string[]) => values.join(', ') || 'nobody'
  const recipients = list(transfers.map(({ to }) => to))
  return [
    networkRow(intent, options),
    equalRow('sender', intent.sender, list(transfers.map(({ from }) => from))),
    { field: 'recipient', ok: recipients === intent.recipient && recipients !== intent.sender, expected: intent.recipient, got: recipients },
    {
      field: 'amount',
      ok: one && total === intent.amountAtomic && intent.amountAtomic > 0n,
      expected: `${formatAmount(intent.amountAtomic, intent.asset.decimals)} ${intent.asset.symbol}`,
      got: `${formatAmount(total, NATIVE_SOL.decimals)} SOL${transfers.length > 1 ? ` in ${transfers.length} transfers` : ''}`,
    },
    {
      field: 'asset',
      ok: intent.asset.native && intent.asset.address === SOLANA_NATIVE && one,
      expected: intent.asset.symbol,
      got: one ? 'SOL' : 'not one transfer of SOL',
    },
    feeRow(intent, facts),
    equalRow('feePayer', intent.sender, facts.feePayer),
    signersRow(intent, facts),
    {
      field: 'memo',
      // A memo's accounts are signers it asks for; another one than the sender would have to sign.
      ok:
        memos.length === 1 &&
        memos[0]?.text === intent.paymentId &&
        memos[0].signers.every((signer) => signer === intent.sender) &&
        memos[0].signers.length <= 1,
      expected: intent.paymentId,
      got: memos.map(({ text }) => text).join(', ') || 'none',
    },
    expiryRow(facts),
    instructionsRow(facts, options),
  ]
}

function networkRow({ network }: PaymentIntent, { blockhashKnown }: MatchOptions): MatchRow {
  const got = blockhashKnown === undefined ? 'decided by the blockhash' : blockhashKnown ? network : 'a blockhash this network does not know'
  return { field: 'network', ok: network.startsWith('solana:') && blockhashKnown !== false, expected: network, got }
}

function feeRow(intent: PaymentIntent, { operations, feeBoundAtomic }: SolanaFacts): MatchRow {
  const limits = operations.filter((operation) => operation.kind === 'fee_limit')
  const prices = operations.filter((operation) => operation.kind === 'fee_price')
  const capped = limits.every(({ units }) => units <= MAX_UNITS) && prices.every(({ microLamports }) => microLamports <= MAX_UNIT_PRICE)
  return {
    field: 'fee',
    ok: limits.length === 1 && prices.length === 1 && capped && feeBoundAtomic <= intent.maxFeeAtomic,
    expected: `at most ${formatAmount(intent.maxFeeAtomic, NATIVE_SOL.decimals)} SOL`,
    got: `at most ${formatAmount(feeBoundAtomic, NATIVE_SOL.decimals)} SOL${limits.length === 1 && prices.length === 1 ? '' : ', without one limit and one price'}`,
  }
}

function signersRow(intent: PaymentIntent, facts: SolanaFacts): MatchRow {
  const [signature] = facts.signatures
  const good = facts.form === 'unsigned' || (signature !== undefined && verifySignature(signature, facts.message, facts.feePayer))
  const signers = facts.signers.join(', ')
  return {
    field: 'signers',
    ok: signers === intent.sender && good,
    expected: intent.sender,
    got: good ? signers : `${signers}, with a signature that is not theirs`,
  }
}

function expiryRow({ operations, blockhash }: SolanaFacts): MatchRow {
  const durable = operations.some((operation) => operation.kind === 'unknown' && operation.program === SYSTEM_PROGRAM && operation.data[0] === 4)
  return { field: 'expiry', ok: !durable, expected: 'a recent blockhash', got: durable ? 'a durable nonce, which does not expire' : blockhash }
}

function instructionsRow(facts: SolanaFacts, { allowGuards = false }: MatchOptions): MatchRow {
  const { operations } = facts
  const guards = operations.filter(({ kind }) => kind === 'guard').length
  const unknown = operations.some(({ kind }) => kind === 'unknown')
  return {
    field: 'instructions',
    ok: !unknown && guards <= (allowGuards ? MAX_GUARDS : 0) && hasPlainRoles(facts),
    expected: `compute limit, compute price, one transfer, one memo${allowGuards ? `, at most ${MAX_GUARDS} wallet guards` : ''}`,
    got: operations.map(describeKind).join(', ') || 'nothing',
  }
}

/** Every account is there for a reason, programs are only called, and what a transfer credits can be written. */
function hasPlainRoles({ accounts, operations }: SolanaFacts): boolean {
  const paid = new Set(operations.flatMap((operation) => (operation.kind === 'transfer' ? [operation.from, operation.to] : [])))
  return accounts.every(({ address, writable, called, named }, index) => {
    if (paid.has(address)) return writable && !called
    if (called) return !writable
    return index === 0 || named
  })
}

function describeKind(operation: Operation): string {
  const words = { fee_limit: 'compute limit', fee_price: 'compute price', transfer: 'transfer', memo: 'memo', guard: 'wallet guard' }
  return operation.kind === 'unknown' ? `an instruction of ${operation.program} that is not understood` : words[operation.kind]
}

/** Everything that matters to the payer and the payee; the blockhash, guards, and a fee below the cap do not. */
export function meaningOf(intent: PaymentIntent, facts: SolanaFacts, feeAtomic = facts.feeBoundAtomic): string[] {
  const ceiling = feeAtomic <= intent.maxFeeAtomic ? intent.maxFeeAtomic : feeAtomic
  const operations = facts.operations.filter(({ kind }) => kind !== 'fee_limit' && kind !== 'fee_price' && kind !== 'guard')
  return ['solana', intent.network, facts.feePayer, facts.signers.join(), ceiling.toString(), ...operations.map(spellOperation)]
}
