import { ComputeBudgetProgram, PublicKey } from '@solana/web3.js'
import { buildPayment } from '#chains/solana/build.ts'
import { maxFeeAtomic } from '#chains/solana/fee.ts'
import { NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import type { Dice } from './dice.ts'
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
  type Payment,
} from './solana-draft.ts'
import { accepts, isSamePayment } from './solana-validator.ts'
import type { Chain } from './tamper.ts'

/** What an attacker changes in a transfer of SOL. */
const changes: Record<string, Change> = {
  'another recipient': (dice, _, intent) => ({
    transfer: pay(PAYER.publicKey, key(dice), intent.amountAtomic),
  }),
  'another amount': (dice, _, intent) => ({
    transfer: pay(
      PAYER.publicKey,
      new PublicKey(intent.recipient),
      u64(dice.pick([intent.amountAtomic + 1n, intent.amountAtomic - 1n, 0n, dice.big(60)])),
    ),
  }),
  'another payer of the amount': (dice, _, intent) => ({
    transfer: pay(STRANGER.publicKey, new PublicKey(intent.recipient), intent.amountAtomic),
  }),
  ...COMMON_CHANGES,
}

function newPayment(dice: Dice): Payment {
  const blockhash = key(dice).toBase58()
  const unitLimit = 10_000 + dice.below(50_001)
  const unitPriceMicroLamports = BigInt(dice.below(50_001))
  const intent = {
    paymentId: dice.paymentId(),
    network: SOLANA_DEVNET,
    asset: NATIVE_SOL,
    sender: PAYER.publicKey.toBase58(),
    recipient: key(dice).toBase58(),
    amountAtomic: dice.big(50),
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

export const solana: Chain = {
  attack: async (dice) => attackPayment(dice, newPayment(dice), changes),
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
