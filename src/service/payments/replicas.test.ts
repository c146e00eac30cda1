import { eq } from 'drizzle-orm'
import { Keypair, PublicKey } from '@solana/web3.js'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  startEvm,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from '#testing/local-chains.ts'
import { untilDecided } from '#testing/until-decided.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Context } from '../context/context.ts'
import { payment } from '../db/schema/payment.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { startWatchers } from '../monitor/start.ts'
import { sendPayment } from '../hosted/send.ts'

/** One wallet, asked for more than it holds by everyone at once: by two processes. */

const ETH = 10n ** 18n
const SOL = 1_000_000_000n
/** What an account must hold to stay, and what the network takes for a signature. */
const RENT = 890_880n
const FEE = 5_000n

let evm: EvmFixture
let solana: SolanaFixture
let mining: NodeJS.Timeout

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine()
  mining = setInterval(() => void evm.mine().catch(() => {}), evm.network.blockTimeMs)
  solana = await startSolana({ slotTimeMs: 100 })
})

afterAll(async () => {
  clearInterval(mining)
  await solana?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

const families = {
  evm: {
    holds: 37n * (ETH / 100n) + ETH / 200n,
    fund: (address: string, value: bigint) =>
      evm.client.setBalance({ address: address as Hex, value }),
    payee: async () => (await evm.wallet(0n)).address as string,
    paid: (address: string) => evm.client.getBalance({ address: address as Hex }),
    amount: ETH / 100n,
  },
  solana: {
    holds: 37n * (SOL / 100n + FEE) + RENT + SOL / 1_000n,
    fund: (address: string, lamports: bigint) => solana.setAccount(address, { lamports }),
    payee: async () => Keypair.generate().publicKey.toBase58(),
    paid: async (address: string) =>
      BigInt(await solana.connection.getBalance(new PublicKey(address))),
    amount: SOL / 100n,
  },
}

describe('on Postgres', () => {
  let opened: OpenedContext[]
  let contexts: Context[]

  beforeAll(async () => {
    const first = await openContext([evm.network, solana.network])
    opened = [first, await openContext([evm.network, solana.network], { beside: first.context })]
    contexts = opened.map(({ context }) => context)
  })
  afterAll(async () => {
    for (const each of (opened ?? []).toReversed()) await each[Symbol.asyncDispose]()
  })

  test.each(['evm', 'solana'] as const)(
    'of a hundred sends at once on %s with funds for 37 exactly 37 are made',
    { timeout: 240_000 },
    async (family) => {
      const { holds, fund, payee, paid, amount } = families[family]
      const [context] = contexts
      const [{ actor } = { actor: undefined }] = opened
      if (!context || !actor) throw new Error('no context')
      const { address: walletAddress } = await createWallet(
        { ...context, now: new Date() },
        { accountId: actor.accountId, family, name: 'till' },
      )
      await fund(walletAddress, holds)
      const body = { walletAddress, recipientAddress: await payee(), amount: '0.01' }
      const watchers = contexts.map((each) => startWatchers(each))
      try {
        const sends = Array.from(
          { length: 100 },
          (_, index) => contexts[index % contexts.length] ?? context,
        )
        const outcomes = await Promise.allSettled(
          sends.map((each) =>
            untilDecided(() =>
              sendPayment(each, actor, { body, idempotency: undefined, waitMs: 0 }),
            ),
          ),
        )
        const refused = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [outcome.reason] : [],
        )
        expect(refused.map(({ code }) => code)).toEqual(
          Array.from({ length: 63 }, () => 'INSUFFICIENT_BALANCE'),
        )

        const rows = () =>
          context.db.select().from(payment).where(eq(payment.sender, walletAddress))
        const made = await eventually(rows, (all) =>
          all.every(({ status }) => status === 'confirmed' || status === 'finalized'),
        )
        expect(made).toHaveLength(37)
        if (family === 'evm')
          expect(made.map(({ nonce }) => nonce).toSorted((a, b) => Number(a) - Number(b))).toEqual(
            Array.from({ length: 37 }, (_, n) => n),
          )
        expect(await paid(body.recipientAddress)).toBe(37n * amount)
      } finally {
        await Promise.all(watchers.map((watcher) => watcher.stop()))
      }
    },
  )
})
