import { Keypair } from '@solana/web3.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { NATIVE_SOL } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { startGate, startSolana } from '#testing/local-chains.ts'
import { createChains } from '../../service.ts'

const METHOD = 'getMinimumBalanceForRentExemption'
const SOL = 1_000_000_000n

test('a node that refuses to tell the rent is not taken to ask none, and is asked again', async () => {
  await using solana = await startSolana({ slotTimeMs: 100 })
  await using gate = await startGate(solana.rpcUrl)
  const [chain] = createChains([{ ...solana.network, rpcUrls: [gate.url] }]).values()
  if (!chain) throw new Error('no chain')
  // web3.js writes the node's error there.
  const warned = vi.spyOn(console, 'warn').mockReturnValue()
  onTestFinished(() => warned.mockRestore())
  const payer = await solana.wallet(SOL)
  const payOneLamport = () =>
    chain.build({
      network: solana.network.network,
      paymentId: createPaymentId(),
      sender: payer.publicKey.toBase58(),
      recipient: Keypair.generate().publicKey.toBase58(),
      asset: NATIVE_SOL,
      amountAtomic: 1n,
    })
  gate.instead = (question) => {
    const { id, method } = JSON.parse(question) as { id: unknown; method: string }
    if (method !== METHOD) return undefined
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_005, message: 'busy' } })
  }
  await expect(payOneLamport()).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  gate.instead = undefined
  await expect(payOneLamport()).resolves.toMatchObject({
    ok: false,
    reason: { code: 'below_rent_minimum' },
  })
  await chain.close()
})
