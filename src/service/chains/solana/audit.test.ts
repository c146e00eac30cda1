import { SystemProgram, Transaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { startSolana } from '#testing/local-chains.ts'
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
    const spentAtomic = BigInt(1_000 + round + 5_000)
    expect(next).toMatchObject({
      signed: [{ signature, spentAtomic }],
      balanceAtomic: page.balanceAtomic - spentAtomic,
    })
    page = next
  }
})
