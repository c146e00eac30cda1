import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { receivePayment } from '#service/settlement/receive.ts'
import { startEvm } from './local-chains.ts'
import { proveTxid, type EvmProof } from './proofs.ts'
import { openContext } from './service-context.ts'

const ETH = 10n ** 18n
/** The requested payment. */
export const ETHER_AMOUNT = 10n ** 16n
export const ETHER_RESOURCE = 'https://shop.example/a'

export type EtherFixture = Awaited<ReturnType<typeof openEtherFixture>>
export type SentEther = {
  payer: PrivateKeyAccount
  payTo: Hex
  txRef: Hex
  network: string
  amount: bigint
}
type SendOptions = { value?: bigint; data?: Hex; to?: Hex; mined?: number; gas?: bigint }

/** A service that accepts proofs of ether payments on a separate bare EVM chain. */
export async function openEtherFixture() {
  const evm = await startEvm({ slotsInEpoch: 4 })
  await evm.mine()
  const opened = await openContext([evm.network])
  const { context, actor } = opened
  const chain = context.chains.get(evm.network.network)
  if (!chain) throw new Error('no chain')
  return {
    evm,
    context,
    actor,
    chain,
    async send({
      value = ETHER_AMOUNT,
      data,
      to,
      mined = 2,
      gas = 50_000n,
    }: SendOptions = {}): Promise<SentEther> {
      const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
      const fees = { gas, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
      const fields = {
        chainId: 31337,
        ...fees,
        nonce: 0,
        to: to ?? payee.address,
        value,
        ...(data && { data }),
      }
      const txRef = await evm.client.sendRawTransaction({
        serializedTransaction: await payer.signTransaction({ type: 'eip1559', ...fields }),
      })
      if (mined > 0) await evm.mine(mined)
      return {
        payer,
        payTo: payee.address,
        txRef,
        network: evm.network.network,
        amount: ETHER_AMOUNT,
      }
    },
    receive: (
      sent: SentEther,
      paymentProof: string,
      body: Partial<Parameters<typeof receivePayment>[2]> = {},
      as = actor,
    ) =>
      receivePayment(context, as, {
        walletAddress: sent.payTo,
        paymentProof,
        expectedAmount: '0.01',
        resource: ETHER_RESOURCE,
        timeout: 10,
        ...body,
      }),
    prove: (sent: SentEther, other: Partial<EvmProof> = {}) => proveTxid({ ...sent, ...other }),
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
      await evm[Symbol.asyncDispose]()
    },
  }
}
