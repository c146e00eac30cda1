import { ComputeBudgetProgram, PublicKey } from '@solana/web3.js'
import { buildPayment } from '#chains/solana/build.ts'
import { maxFeeAtomic } from '#chains/solana/fee.ts'
import { NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import type { Rng } from './rng.ts'
import {
  attackPayment,
  COMMON_CHANGES,
  key,
  memo,
  pay,
  PAYER,
  STRANGER,
  u64,
  type Change,
  type Draft,
  type DraftPayment,
} from './solana-draft.ts'
import { accepts, isSamePayment } from './solana-validator.ts'
import type { TamperChain } from './tamper.ts'

/** What an attacker changes in a transfer of SOL. */
const changes: Record<string, Change> = {
  'another recipient': (rng, _, intent) => ({
    transfer: pay(PAYER.publicKey, key(rng), intent.amountAtomic),
  }),
  'another amount': (rng, _, intent) => ({
    transfer: pay(
      PAYER.publicKey,
      new PublicKey(intent.recipient),
      u64(rng.pick([intent.amountAtomic + 1n, intent.amountAtomic - 1n, 0n, rng.big(60)])),
    ),
  }),
  'another payer of the amount': (rng, _, intent) => ({
    transfer: pay(STRANGER.publicKey, new PublicKey(intent.recipient), intent.amountAtomic),
  }),
  ...COMMON_CHANGES,
}

function newPayment(rng: Rng): DraftPayment {
  const blockhash = key(rng).toBase58()
  const unitLimit = 10_000 + rng.below(50_001)
  const unitPriceMicroLamports = BigInt(rng.below(50_001))
  const intent = {
    paymentId: rng.paymentId(),
    network: SOLANA_DEVNET,
    asset: NATIVE_SOL,
    sender: PAYER.publicKey.toBase58(),
    recipient: key(rng).toBase58(),
    amountAtomic: rng.big(50),
    maxFeeAtomic: maxFeeAtomic(),
  }
  const draft: Draft = {
    payer: PAYER.publicKey,
    blockhash,
    limit: ComputeBudgetProgram.setComputeUnitLimit({ units: unitLimit }),
    price: ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPriceMicroLamports }),
    transfer: pay(PAYER.publicKey, new PublicKey(intent.recipient), intent.amountAtomic),
    open: [],
    memo: memo(intent.paymentId),
    memoFirst: false,
    before: [],
    after: [],
    shape: 'v0',
    unordered: false,
  }
  return {
    intent,
    draft,
    reviewed: buildPayment({ ...intent, blockhash, unitLimit, unitPriceMicroLamports }),
  }
}

export const solana: TamperChain = {
  attack: async (rng) => attackPayment(rng, newPayment(rng), changes),
  accepts,
  isSamePayment: (attack) =>
    isSamePayment(
      attack,
      ({ sender, recipient, amountAtomic }, { sol, tokens, opened }) =>
        sol.join() === `${sender} ${recipient} ${amountAtomic}` &&
        tokens.length === 0 &&
        opened.length === 0,
    ),
}
