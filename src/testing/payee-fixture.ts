import { createWalletClient, http, parseEther, parseTransaction, toHex, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Network } from '#contract/network.ts'
import { readPaymentBody } from '#service/payments/status.ts'
import { receivePayment } from '#service/settlement/receive.ts'
import { buildSettlement } from '#service/settlement/self/build.ts'
import { pollOnce } from '#service/monitor/poll.ts'
import type { EvmFixture } from './local-chains.ts'
import { eventually, openContext } from './service-context.ts'

const RESOURCE = 'https://shop.example/a'

export type PayeeFixture = Awaited<ReturnType<typeof openPayeeFixture>>
type Settling = Parameters<typeof buildSettlement>[2]
type Receiving = Parameters<typeof receivePayment>[2]

/** A service whose payees settle on a bare EVM chain what they were given proofs of, and look what became of it. */
export async function openPayeeFixture(evm: EvmFixture, network: Network = evm.network) {
  const opened = await openContext([network])
  const { context, actor } = opened
  const chain = context.chains.get(network.network)
  if (!chain) throw new Error('no chain')
  const asked = { expectedAmount: '1', asset: 'USDC', resource: RESOURCE }

  async function follow(): Promise<void> {
    if (!chain) throw new Error('no chain')
    const { failures } = await pollOnce(context, chain, { expiredToo: false })
    if (failures.length > 0) throw new AggregateError(failures)
  }
  const status = async (paymentId: string) => (await readPaymentBody(context, paymentId)).status

  return {
    context,
    actor,
    follow,
    status,
    build: (
      { address }: PrivateKeyAccount,
      paymentProof: string,
      body: Partial<Settling> = {},
      as = actor,
    ) => buildSettlement(context, as, { walletAddress: address, paymentProof, ...asked, ...body }),
    receive: (
      { address }: PrivateKeyAccount,
      paymentProof: string,
      body: Partial<Receiving> = {},
    ) =>
      receivePayment(context, actor, {
        walletAddress: address,
        paymentProof,
        timeout: 10,
        ...asked,
        ...body,
      }),
    followed: (paymentId: string, wanted: string) =>
      eventually(
        async () => {
          await evm.mine()
          await follow()
          return status(paymentId)
        },
        (now) => now === wanted,
      ),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** The payee signs what it was given, byte for byte, and mines it. */
export async function settleBuilt(
  evm: EvmFixture,
  payee: PrivateKeyAccount,
  transaction: string,
): Promise<Hex> {
  const parsed = parseTransaction(toHex(Buffer.from(transaction, 'base64')))
  if (parsed.type !== 'eip1559') throw new Error('not such a transaction')
  const hash = await createWalletClient({ transport: http(evm.rpcUrl) }).sendRawTransaction({
    serializedTransaction: await payee.signTransaction(parsed),
  })
  await evm.mine(3)
  return hash
}

/** Who pays, and who is paid and holds what the network asks. */
export async function openParties(
  evm: EvmFixture,
  payeeHolds = parseEther('1'),
): Promise<{ payer: PrivateKeyAccount; payee: PrivateKeyAccount }> {
  const [payer, payee] = [await evm.wallet(parseEther('1')), await evm.wallet(payeeHolds)]
  return { payer, payee }
}
