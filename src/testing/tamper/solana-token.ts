import { ComputeBudgetProgram, PublicKey, SystemProgram } from '@solana/web3.js'
import { buildPayment } from '#chains/solana/build.ts'
import { maxFeeAtomic } from '#chains/solana/fee.ts'
import { SOLANA_DEVNET } from '#contract/network.ts'
import {
  accountOf,
  openAccount,
  TOKEN,
  TOKEN_2022,
  tokenInstruction,
  transferChecked,
  type CheckedTransfer,
} from '../token-instructions.ts'
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

const payer = PAYER.publicKey
const stranger = STRANGER.publicKey

/** The transfer of the intent, with some of its fields replaced. */
function transfer(valid: Draft, change: Partial<CheckedTransfer>) {
  const [source = payer, mint = payer, destination = payer, authority = payer] =
    valid.transfer.keys.map(({ pubkey }) => pubkey)
  const { programId: program, data } = valid.transfer
  return transferChecked({
    source,
    mint,
    destination,
    authority,
    amount: data.readBigUInt64LE(1),
    decimals: data[9] ?? 0,
    program,
    ...change,
  })
}

const sourceOf = (valid: Draft) => valid.transfer.keys[0]?.pubkey ?? payer
const mintOf = (valid: Draft) => valid.transfer.keys[1]?.pubkey ?? payer
const otherProgram = (valid: Draft) => (valid.transfer.programId.equals(TOKEN) ? TOKEN_2022 : TOKEN)

/** An instruction of the token program over the payer's account, in favor of another account. */
const overSource = (valid: Draft, data: number[], other: PublicKey) =>
  tokenInstruction(
    data,
    [
      { pubkey: sourceOf(valid), isWritable: true },
      { pubkey: other, isWritable: true },
      { pubkey: payer, isSigner: true },
    ],
    valid.transfer.programId,
  )

/** What an attacker who understands tokens changes. */
const changes: Record<string, Change> = {
  ...COMMON_CHANGES,
  'another account': (rng, valid) => ({ transfer: transfer(valid, { destination: key(rng) }) }),
  'another owner’s account': (rng, valid) => ({
    transfer: transfer(valid, {
      destination: accountOf(key(rng), mintOf(valid), valid.transfer.programId),
    }),
  }),
  'the wallet as account': (_, valid, intent) => ({
    transfer: transfer(valid, { destination: new PublicKey(intent.recipient) }),
  }),
  'back to the payer': (_, valid) => ({
    transfer: transfer(valid, { destination: sourceOf(valid) }),
  }),
  'the account under the other program': (_, valid, intent) => ({
    transfer: transfer(valid, {
      destination: accountOf(new PublicKey(intent.recipient), mintOf(valid), otherProgram(valid)),
    }),
  }),
  'everything under the other program': (_, valid, intent) => {
    const program = otherProgram(valid)
    const [source, destination] = [payer, new PublicKey(intent.recipient)].map((owner) =>
      accountOf(owner, mintOf(valid), program),
    )
    return { transfer: transfer(valid, { program, source, destination }), open: [] }
  },
  'another source': (rng, valid) => ({ transfer: transfer(valid, { source: key(rng) }) }),
  'another authority': (_, valid) => ({ transfer: transfer(valid, { authority: stranger }) }),
  'another mint': (rng, valid) => ({ transfer: transfer(valid, { mint: key(rng) }) }),
  'another mint’s accounts': (rng, valid, intent) => {
    const [mint, program] = [key(rng), valid.transfer.programId]
    const [source, destination] = [payer, new PublicKey(intent.recipient)].map((owner) =>
      accountOf(owner, mint, program),
    )
    return { transfer: transfer(valid, { mint, source, destination }), open: [] }
  },
  'another amount': (rng, valid, { amountAtomic: amount }) => ({
    transfer: transfer(valid, {
      amount: u64(rng.pick([amount + 1n, amount - 1n, amount * 1000n, 0n, rng.big(64)])),
    }),
  }),
  'other decimals': (rng, valid) => ({ transfer: transfer(valid, { decimals: rng.below(256) }) }),
  'further accounts': (rng, valid) => ({ transfer: transfer(valid, { more: [key(rng)] }) }),
  'a second token transfer': (rng, valid) => ({
    after: [transfer(valid, { destination: key(rng), amount: u64(rng.big(40)) })],
  }),
  'SOL beside it': (rng) => ({ after: [pay(payer, key(rng), rng.big(40))] }),
  'SOL instead': (_, __, intent) => ({
    transfer: pay(payer, new PublicKey(intent.recipient), u64(intent.amountAtomic)),
  }),
  'an unchecked transfer': (rng, valid) => ({
    transfer: overSource(valid, [3, ...rng.bytes(8)], key(rng)),
  }),
  'an approval': (rng, valid) => ({
    after: [overSource(valid, [rng.pick([4, 13]), ...rng.bytes(rng.pick([8, 9]))], key(rng))],
  }),
  'an account given away': (rng, valid) => ({
    after: [overSource(valid, [6, 2, 1, ...rng.bytes(32)], key(rng))],
  }),
  'an account closed': (rng, valid) => ({ after: [overSource(valid, [9], key(rng))] }),
  'tokens burned': (rng, valid) => ({
    before: [overSource(valid, [rng.pick([8, 15]), ...rng.bytes(8)], mintOf(valid))],
  }),
  'any token instruction': (rng, valid) => ({
    after: [overSource(valid, [...rng.bytes(rng.upTo(12))], key(rng))],
  }),
  'the account opened or not': (_, valid, intent) => ({
    open:
      valid.open.length > 0
        ? []
        : [
            openAccount({
              payer,
              owner: new PublicKey(intent.recipient),
              mint: mintOf(valid),
              program: valid.transfer.programId,
            }),
          ],
  }),
  'another’s account opened': (rng, valid) => ({
    open: [
      openAccount({
        payer,
        owner: key(rng),
        mint: mintOf(valid),
        program: valid.transfer.programId,
      }),
    ],
  }),
  'an account opened at another address': (rng, valid, intent) => ({
    open: [
      openAccount({
        payer,
        owner: new PublicKey(intent.recipient),
        mint: mintOf(valid),
        program: valid.transfer.programId,
        account: key(rng),
      }),
    ],
  }),
  'an account of another mint opened': (rng, valid, intent) => ({
    open: [
      openAccount({
        payer,
        owner: new PublicKey(intent.recipient),
        mint: key(rng),
        program: valid.transfer.programId,
      }),
    ],
  }),
  'two accounts opened': (rng, valid) => ({
    after: [
      openAccount({
        payer,
        owner: key(rng),
        mint: mintOf(valid),
        program: valid.transfer.programId,
      }),
    ],
  }),
  'an account opened at a stranger’s cost': (_, valid, intent) => ({
    open: [
      openAccount({
        payer: stranger,
        owner: new PublicKey(intent.recipient),
        mint: mintOf(valid),
        program: valid.transfer.programId,
      }),
    ],
  }),
  'another kind of opening': (rng, valid, intent) => ({
    open: [
      openAccount({
        payer,
        owner: new PublicKey(intent.recipient),
        mint: mintOf(valid),
        program: valid.transfer.programId,
        data: rng.pick([[], [0], [2], [1, 0]]),
      }),
    ],
  }),
  'the memo after the transfer': () => ({ memoFirst: false }),
  'a mint that can be written': (_, valid) => ({ transfer: writable(transfer(valid, {})) }),
}

function writable(instruction: Draft['transfer']): Draft['transfer'] {
  const mint = instruction.keys[1]
  if (mint) mint.isWritable = true
  return instruction
}

function newPayment(rng: Rng): DraftPayment {
  const [blockhash, mint, recipient] = [key(rng).toBase58(), key(rng), key(rng)]
  const program = rng.pick([TOKEN, TOKEN_2022])
  const unitLimit = 20_000 + rng.below(180_001)
  const unitPriceMicroLamports = BigInt(rng.below(50_001))
  const decimals = rng.pick([6, 9, 0])
  const opensAccount = rng.below(2) === 1
  const intent = {
    paymentId: rng.paymentId(),
    network: SOLANA_DEVNET,
    asset: { address: mint.toBase58(), symbol: 'USDC', name: 'USD Coin', decimals, native: false },
    sender: payer.toBase58(),
    recipient: recipient.toBase58(),
    amountAtomic: rng.big(60),
    maxFeeAtomic: maxFeeAtomic(),
  }
  const [source, destination] = [
    accountOf(payer, mint, program),
    accountOf(recipient, mint, program),
  ]
  const draft: Draft = {
    payer,
    blockhash,
    limit: ComputeBudgetProgram.setComputeUnitLimit({ units: unitLimit }),
    price: ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPriceMicroLamports }),
    transfer: transferChecked({
      source,
      mint,
      destination,
      authority: payer,
      amount: intent.amountAtomic,
      decimals,
      program,
    }),
    open: opensAccount ? [openAccount({ payer, owner: recipient, mint, program })] : [],
    memo: memo(intent.paymentId),
    memoFirst: true,
    before: [],
    after: [],
    shape: 'v0',
    unordered: false,
  }
  const token = { program: program.toBase58(), opensAccount }
  return {
    intent,
    draft,
    reviewed: buildPayment({ ...intent, blockhash, unitLimit, unitPriceMicroLamports, token }),
  }
}

export const solanaToken: TamperChain = {
  attack: async (rng) => attackPayment(rng, newPayment(rng), changes),
  accepts,
  isSamePayment: (attack) =>
    isSamePayment(attack, ({ asset, sender, recipient, amountAtomic }, { sol, tokens, opened }) =>
      // The chain accepts a mint's transfer only under the mint's own program, so either of the two
      // may occur here.
      [TOKEN, TOKEN_2022].some((program) => {
        const mint = new PublicKey(asset.address)
        const [source, destination] = [sender, recipient].map((owner) =>
          accountOf(new PublicKey(owner), mint, program).toBase58(),
        )
        const paid =
          tokens.join() ===
          [
            program.toBase58(),
            source,
            asset.address,
            destination,
            sender,
            amountAtomic,
            asset.decimals,
          ].join(' ')
        const opening = [
          sender,
          destination,
          recipient,
          asset.address,
          SystemProgram.programId.toBase58(),
          program.toBase58(),
        ].join(' ')
        return paid && sol.length === 0 && (opened.length === 0 || opened.join() === opening)
      }),
    ),
}
