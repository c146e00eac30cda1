import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { buildTransaction } from '#service/payments/build.ts'
import { readPaymentBody } from '#service/payments/status.ts'
import { startWatchers } from '#service/monitor/start.ts'
import { signBuilt, startEvm } from './local-chains.ts'
import { eventually, openContext } from './service-context.ts'

export type MonitoredFixture = Awaited<ReturnType<typeof openMonitoredFixture>>
type Built = Awaited<ReturnType<typeof buildTransaction>>

/**
 * A service that builds ether payments and watches for them on a separate bare EVM chain, and
 * people who sign and send.
 */
export async function openMonitoredFixture() {
  const evm = await startEvm({ slotsInEpoch: 4 })
  await evm.mine()
  const opened = await openContext([evm.network], { engine: 'postgres' })
  const { context, actor } = opened
  const watchers = [startWatchers(context)]
  const read = (built: Built) => readPaymentBody(context, built.paymentId)
  return {
    evm,
    context,
    actor,
    watchers,
    read,
    build: (payer: PrivateKeyAccount, recipientAddress: string, amount = '0.01') =>
      buildTransaction(context, actor, { walletAddress: payer.address, recipientAddress, amount }),
    send: async (payer: PrivateKeyAccount, built: Built, nonce?: number): Promise<Hex> =>
      evm.client.sendRawTransaction({
        serializedTransaction: await signBuilt(payer, built.transaction, nonce),
      }),
    untilStatus: (built: Built, status: string) =>
      eventually(
        () => read(built),
        (body) => body.status === status,
      ),
    async parties() {
      const [payer, payee] = await Promise.all([evm.wallet(10n ** 18n), evm.wallet(0n)])
      return { payer, payee }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(watchers.map((watcher) => watcher.stop()))
      await opened[Symbol.asyncDispose]()
      await evm[Symbol.asyncDispose]()
    },
  }
}
