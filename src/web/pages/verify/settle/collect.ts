import { t } from '@lingui/core/macro'
import { bytesToHex } from 'viem'
import { decodeTransaction as decodeEvm } from '#chains/evm/decode.ts'
import { matchTransaction as matchEvm } from '#chains/evm/match.ts'
import { decodeTransaction as decodeSolana } from '#chains/solana/decode.ts'
import { maxFeeAtomic } from '#chains/solana/fee.ts'
import type { Match, MatchRow } from '#chains/match.ts'
import { fact } from '#contract/facts.ts'
import { nativeAsset } from '#contract/network.ts'
import type {
  CheckedTransaction,
  WalletPaymentIntent,
  Simulation,
} from '../../../payment-intent/intent.ts'
import type { Ports } from '../../../payment-flow/dependencies.ts'
import type {
  PaymentChain,
  PaymentWallet,
  TransactionReader,
} from '../../../payment-intent/ports.ts'
import { callNetwork } from '../../../rpc/call.ts'
import { toPaymentIntent } from '../../../wallet/state/intent.ts'
import type { WalletAdapter } from '../../../wallet/state/wallet-adapter.ts'
import type { ProofFacts } from '../proof/facts.ts'
import { compareCoSigned, matchCollecting } from './collect-match.ts'
import type { Settlement } from './settlement.ts'

/**
 * Collecting with a transaction that the payer has signed: the payee adds its signature if it pays
 * the network fee, or only broadcasts it. The chain is searched for the payer's payment, in any
 * account's transaction.
 */
export function collect(
  { facts, expected }: Settlement,
  adapter: WalletAdapter,
): Pick<Ports, 'wallet' | 'chain' | 'reader'> {
  const payer = payerOf(facts)
  const memo = expected.memo ?? facts.memo ?? ''
  /** The payment as its payer would have ordered it. */
  const asPayment = (order: WalletPaymentIntent): WalletPaymentIntent => {
    const { operation: _, ...same } = order
    const feePayer = otherFeePayer(facts)
    return { ...same, sender: payer, ...(feePayer !== null && { feePayer }) }
  }
  const asAttempt = <A extends { paymentId: string }>(attempt: A): A => ({
    ...attempt,
    paymentId: memo,
  })
  return facts.body.kind === 'evm'
    ? {
        wallet: fullySigned,
        reader: evmReader(facts.body.bytes, expected, asPayment),
        chain: evmChain(expected, adapter, asPayment),
      }
    : {
        wallet: coSigned(facts, expected.wallet) ? adapter.wallet : fullySigned,
        ...onSolana({ facts, adapter, asPayment, asAttempt }),
      }
}

/** No signature is missing, so no wallet is asked: what was reviewed is sent unchanged. */
const fullySigned: PaymentWallet = {
  signer: (order) => Promise.resolve(order.sender),
  pay: (_order, built) => Promise.resolve({ kind: 'signed', bytes: built.bytes }),
}

function payerOf({ payer }: ProofFacts): string {
  if (payer === null) throw new TypeError('This proof names no payer.')
  return payer
}

function otherFeePayer({ body, payer }: ProofFacts): string | null {
  return body.kind === 'solana' && body.facts.feePayer !== payer ? body.facts.feePayer : null
}

function coSigned({ body }: ProofFacts, wallet: string): boolean {
  return body.kind === 'solana' && body.facts.form !== 'signed' && body.facts.feePayer === wallet
}

type OnSolana = {
  facts: ProofFacts
  adapter: WalletAdapter
  asPayment: (order: WalletPaymentIntent) => WalletPaymentIntent
  asAttempt: <A extends { paymentId: string }>(attempt: A) => A
}

function onSolana({ facts, adapter, asPayment, asAttempt }: OnSolana): {
  reader: TransactionReader
  chain: PaymentChain
} {
  const { body } = facts
  if (body.kind !== 'solana') throw new TypeError('This proof carries no transaction of Solana.')
  const proof = body.bytes
  return {
    reader: {
      match: (order, attempt, bytes) => {
        const co = coSigned(facts, order.sender)
        const payment = toPaymentIntent(asPayment(order), asAttempt(attempt))
        const options = attempt.chainKnown === null ? {} : { blockhashKnown: attempt.chainKnown }
        const match = matchCollecting({ payment, proof, coSigned: co }, bytes, options)
        return co ? match : freeOfCharge(match)
      },
      describe: (order, _attempt, bytes) => {
        const decoded = decodeSolana(bytes, [order.asset])
        return decoded.ok ? decoded.steps : []
      },
      nonce: () => null,
      compareSigned: (_order, built, signed) => {
        const same = compareCoSigned(built.bytes, signed)
        if (same.ok) return same
        return {
          ok: false,
          difference:
            same.difference === 'message'
              ? t`your wallet changed the transaction.`
              : t`a signature is missing.`,
        }
      },
    },
    chain: {
      ...adapter.chain,
      feeCap: async () => maxFeeAtomic(),
      simulate: async (order, bytes) =>
        asSeenByPayee(await adapter.chain.simulate(asPayment(order), bytes)),
      read: (order, built, sent) => adapter.chain.read(asPayment(order), asAttempt(built), sent),
    },
  }
}

function evmReader(
  proof: Uint8Array,
  { network }: Settlement['expected'],
  asPayment: OnSolana['asPayment'],
): TransactionReader {
  return {
    match: (order, attempt, bytes) => {
      const match = freeOfCharge(
        matchEvm(toPaymentIntent(asPayment(order), attempt, nativeAsset(network)), bytes),
      )
      const rows = match.rows.map((row): MatchRow =>
        row.field === 'instructions' && bytesToHex(bytes) !== bytesToHex(proof)
          ? { ...row, ok: false, got: fact('not_payers_transaction') }
          : row,
      )
      return { ...match, rows, ok: rows.every(({ ok }) => ok) }
    },
    describe: (order, _attempt, bytes) => {
      const decoded = decodeEvm(bytes, nativeAsset(network), [order.asset])
      return decoded.ok ? decoded.steps : []
    },
    nonce: (_order, bytes) => {
      const decoded = decodeEvm(bytes)
      return decoded.ok ? decoded.nonce : null
    },
    compareSigned: (_order, built: CheckedTransaction, signed) => {
      const decoded = decodeEvm(signed)
      const same = bytesToHex(built.bytes) === bytesToHex(signed)
      return same && decoded.ok && decoded.hash !== null
        ? { ok: true, signature: decoded.hash }
        : { ok: false, difference: t`another transaction.` }
    },
  }
}

function evmChain(
  { network }: Settlement['expected'],
  adapter: WalletAdapter,
  asPayment: OnSolana['asPayment'],
): PaymentChain {
  return {
    ...adapter.chain,
    feeCap: (order) => adapter.chain.feeCap(asPayment(order)),
    simulate: async (order, bytes) =>
      asSeenByPayee(await adapter.chain.simulate(asPayment(order), bytes)),
    broadcast: async (_order, bytes) =>
      void (await callNetwork(network, 'eth_sendRawTransaction', [bytesToHex(bytes)])),
    read: (order, built, sent) => adapter.chain.read(asPayment(order), built, sent),
  }
}

/** The payer pays the network fee: it costs the payee nothing. */
function freeOfCharge(match: Match): Match {
  const rows = match.rows.map((row): MatchRow =>
    row.field === 'fee'
      ? { ...row, ok: true, expected: fact('nothing'), got: fact('nothing') }
      : row,
  )
  return { ...match, rows, ok: rows.every(({ ok }) => ok) }
}

/** Of the two sides of the payment, the payee's is the reader's. */
function asSeenByPayee(simulation: Simulation): Simulation {
  if (simulation.state !== 'passed') return simulation
  const own = simulation.changes.filter(({ who }) => who === 'recipient')
  return { state: 'passed', changes: own.map((change) => ({ ...change, who: 'you' })) }
}
