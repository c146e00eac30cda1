import type { Hex } from 'viem'
import {
  compareLandedApproval,
  describeApproval,
  isApproval,
  matchApproval,
} from '#chains/evm/approval.ts'
import { compareLanded } from '#chains/evm/compare.ts'
import { decodeTransaction, readTransfer } from '#chains/evm/decode.ts'
import type { EvmLandedFacts } from '#chains/evm/landed.ts'
import { matchTransaction } from '#chains/evm/match.ts'
import { compareLandedNote, isNote, matchNote } from '#chains/evm/note.ts'
import type { PaymentIntent, Match, Step } from '#chains/match.ts'
import { textFact } from '#contract/facts.ts'
import { checksumAddress } from '#contract/address.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'

/** How each thing that an account of EVM sends is read, before it is signed and after it landed. */
type Reading = {
  match(intent: PaymentIntent, bytes: Uint8Array): Match
  describe(intent: PaymentIntent, bytes: Uint8Array): readonly Step[]
  landed(intent: PaymentIntent, landed: EvmLandedFacts): Match
  /** Whether a transaction of the sender asks for this; whether it did it, its receipt tells. */
  isMine(intent: PaymentIntent, call: { to: string; value: bigint; data: Hex }): boolean
}

const payment: Reading = {
  match: matchTransaction,
  describe: ({ asset, currency }, bytes) => {
    const decoded = decodeTransaction(bytes, currency, [asset])
    return decoded.ok ? decoded.steps : []
  },
  landed: compareLanded,
  isMine: ({ asset, recipient, amountAtomic }, call) => {
    const transfer = readTransfer({ ...call, sender: null, to: checksumAddress(call.to) })
    return (
      transfer?.asset === asset.address &&
      transfer.recipient === recipient &&
      transfer.amountAtomic === amountAtomic
    )
  },
}

const approval: Reading = {
  match: matchApproval,
  describe: ({ asset }, bytes) => describeApproval(bytes, asset),
  landed: compareLandedApproval,
  isMine: isApproval,
}

const note: Reading = {
  match: matchNote,
  describe: ({ paymentId }, bytes) => {
    const decoded = decodeTransaction(bytes)
    const fees = decoded.ok
      ? decoded.steps.filter(({ kind }) => kind === 'fee_limit' || kind === 'fee_price')
      : []
    return [...fees, { kind: 'memo', facts: { text: textFact(paymentId) } }]
  },
  landed: compareLandedNote,
  isMine: isNote,
}

export function readingOf({ operation }: WalletPaymentIntent): Reading {
  if (operation?.kind === 'approve') return approval
  return operation?.kind === 'acknowledge' ? note : payment
}
