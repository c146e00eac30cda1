import { SystemProgram, Transaction, type Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { signVersion1 } from '#testing/chain-payments.ts'
import { startGate, startSolana } from '#testing/local-chains.ts'
import { eventually } from '#testing/service-context.ts'
import { createChains } from '../../service.ts'

const SOL = 10n ** 9n

test('a page of the books ends with a whole slot: what a wallet signs right after it stands on the next', async () => {
  await using solana = await startSolana({ slotTimeMs: 400 })
  const [chain] = createChains([solana.network]).values()
  if (!chain) throw new Error('no chain')
  const [wallet, payee] = [await solana.wallet(SOL), await solana.wallet(SOL)]
  const address = wallet.publicKey.toBase58()
  let page = await chain.audit(address, null)
  // An embedded node answers from the slot it is filling: a payment nearly always lands in the very slot of the answer.
  for (let round = 0; round < 5; round++) {
    if (!page) throw new Error(`The wallet did not come to rest in round ${round}.`)
    const transfer = new Transaction({
      feePayer: wallet.publicKey,
      ...(await solana.connection.getLatestBlockhash()),
    })
    transfer.add(
      SystemProgram.transfer({
        fromPubkey: wallet.publicKey,
        toPubkey: payee.publicKey,
        lamports: 1_000 + round,
      }),
    )
    transfer.sign(wallet)
    const signature = await solana.connection.sendRawTransaction(transfer.serialize())
    const next = await chain.audit(address, page.height)
    const outflowAtomic = BigInt(1_000 + round + 5_000)
    expect(next).toMatchObject({
      signed: [{ signature, outflowAtomic }],
      balanceAtomic: page.balanceAtomic - outflowAtomic,
    })
    page = next
  }
})

const CALL = v.object({
  id: v.union([v.string(), v.number()]),
  method: v.string(),
  params: v.optional(
    v.tuple([
      v.unknown(),
      v.optional(v.looseObject({ before: v.optional(v.string()), limit: v.optional(v.number()) })),
    ]),
  ),
})

/**
 * A wallet with a snapshot, which then paid once. Its node names it in that payment and in many later transactions of a stranger, which are one, shown under
 * many names.
 */
async function openNamed(count: number) {
  await using stack = new AsyncDisposableStack()
  const solana = stack.use(await startSolana({ slotTimeMs: 50 }))
  const gate = stack.use(await startGate(solana.rpcUrl))
  const [chain] = createChains([{ ...solana.network, rpcUrls: [gate.url] }]).values()
  if (!chain) throw new Error('no chain')
  const [wallet, stranger] = [await solana.wallet(SOL), await solana.wallet(SOL)]
  const address = wallet.publicKey.toBase58()
  const page = await eventually(
    () => chain.audit(address, null),
    (audit) => audit?.balanceAtomic === SOL,
  )
  const pay = async (payer: Keypair, lamports: number) => {
    const { blockhash, lastValidBlockHeight } = await solana.connection.getLatestBlockhash()
    const transaction = new Transaction({
      feePayer: payer.publicKey,
      blockhash,
      lastValidBlockHeight,
    })
    const transfer = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: stranger.publicKey,
      lamports,
    })
    transfer.keys.push({ pubkey: wallet.publicKey, isSigner: false, isWritable: false })
    transaction.add(transfer).sign(payer)
    return solana.connection.sendRawTransaction(transaction.serialize())
  }
  const own = await pay(wallet, 1_000)
  const foreign = await pay(stranger, 1)
  const slot = await eventually(
    async () => (await solana.connection.getSignatureStatus(own)).value?.slot ?? 0,
    (found) => found > 0,
  )
  const response = await fetch(solana.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'getTransaction',
      params: [foreign, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }],
    }),
  })
  const { result: shown } = v.parse(v.object({ result: v.unknown() }), await response.json())
  const names = Array.from({ length: count }, (_, index) => {
    const bytes = Buffer.alloc(64, 1)
    bytes.writeUInt32BE(index + 1)
    return bs58.encode(bytes)
  })
  const all = [...names, own].map((signature) => ({ signature, slot, err: null, memo: null }))
  const invented = new Set(names)
  const reads: string[] = []
  gate.instead = (asked) => {
    const { id, method, params: [first, options] = [] } = v.parse(CALL, JSON.parse(asked))
    const tell = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result })
    if (method === 'getSignaturesForAddress') {
      const start = all.findIndex(({ signature }) => signature === options?.before) + 1
      return tell(all.slice(start, start + (options?.limit ?? 1_000)))
    }
    if (method !== 'getTransaction' || typeof first !== 'string') return undefined
    reads.push(first)
    return invented.has(first) ? tell(shown) : undefined
  }
  await eventually(
    () => chain.head(),
    ({ finalizedHeight }) => finalizedHeight > slot,
  )
  const running = stack.move()
  const audit = () => chain.audit(address, page?.height ?? 0)
  const history = () =>
    chain.history(address, {
      since: page?.height ?? 0,
      knownTo: null,
      isKnown: async () => new Set(),
    })
  return { gate, own, reads, audit, history, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

describe('a wallet that strangers name in many transactions', () => {
  test('is compared by a slow node, which shows them for longer than one call may take', async () => {
    await using named = await openNamed(200)
    const { gate, own, audit, history } = named
    // 200 calls, 8 at a time.
    gate.delayMs = 350
    const [audited, unknown] = await Promise.all([audit(), history()])
    expect(audited?.signed).toEqual([{ signature: own, outflowAtomic: 6_000n }])
    expect(unknown).toMatchObject({ unknown: [own] })
  })

  test('is compared in steps of 1,000, of which none is lost and none is done twice, to the oldest of 5,101', async () => {
    await using named = await openNamed(5_100)
    const { gate, own, reads, audit, history } = named
    for (let step = 1; step <= 5; step++) {
      expect(await audit()).toBeUndefined()
      expect(reads).toHaveLength(step * 1_000)
    }
    gate.refuse = 'getTransaction'
    await expect(audit()).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
    gate.refuse = undefined
    expect((await audit())?.signed).toEqual([{ signature: own, outflowAtomic: 6_000n }])
    expect(new Set(reads).size).toBe(5_101)
    // Those under way when another of the eight failed were asked for once more, and those that a busy machine answered too late.
    expect(reads.length).toBeLessThan(5_101 + 100)
    // Where something was found, it is looked at again at once, and has to be found again.
    const before = reads.length
    expect((await audit())?.signed).toEqual([{ signature: own, outflowAtomic: 6_000n }])
    expect(reads).toHaveLength(before)
    await expect(history()).rejects.toMatchObject({
      code: 'CHAIN_UNAVAILABLE',
      message: expect.stringContaining('still being read'),
    })
  })
})

test('transactions of version 1 that name a wallet are compared, and those that it signed are told', async () => {
  await using solana = await startSolana({ slotTimeMs: 50 })
  const [chain] = createChains([solana.network]).values()
  if (!chain) throw new Error('no chain')
  const [wallet, stranger] = [await solana.wallet(SOL), await solana.wallet(SOL)]
  const address = wallet.publicKey.toBase58()
  const page = await eventually(
    () => chain.audit(address, null),
    (audit) => audit?.balanceAtomic === SOL,
  )
  const pay = async (from: Keypair, to: Keypair) => {
    const { blockhash } = await solana.connection.getLatestBlockhash()
    const transfer = SystemProgram.transfer({
      fromPubkey: from.publicKey,
      toPubkey: to.publicKey,
      lamports: 1_000,
    })
    return solana.connection.sendRawTransaction(
      signVersion1(from, { recentBlockhash: blockhash, instructions: [transfer] }),
    )
  }
  await pay(stranger, wallet)
  const own = await pay(wallet, stranger)
  const since = page?.height ?? 0
  const audited = await eventually(
    () => chain.audit(address, since),
    (audit) => audit?.balanceAtomic === SOL - 5_000n,
  )
  expect(audited?.signed).toEqual([{ signature: own, outflowAtomic: 6_000n }])
  const history = { since, knownTo: null, isKnown: async () => new Set<string>() }
  expect(await chain.history(address, history)).toMatchObject({ unknown: [own] })
})
