import type { Hex } from 'viem'
import type { Eip3009Payload } from '#x402/authorization.ts'
import { serverNow } from '../../../clock.ts'
import { openJournal } from '../../../payment/journal.ts'
import { browserLocks } from '../../../payment/lock.ts'
import type { Clock, Ports } from '../../../payment/ports.ts'
import { PaymentRun } from '../../../payment/run.ts'
import { loadStack } from '../../../wallet/stack.ts'
import type { Expected } from '../local-checks.ts'
import { settleChain, settleReader, settleService, type Settlement } from './settle-ports.ts'

const journal = openJournal('paydesk-settlements')
let locks: Ports['locks'] | undefined

const clock: Clock = {
  now: serverNow,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

export type Begin = { header: string; proof: Eip3009Payload; expected: Expected; walletName: string }

/** The settlement of a proof by its payee, not built yet. */
export async function beginSettlement({ header, proof, expected, walletName }: Begin): Promise<PaymentRun> {
  const { from, to, value, validAfter, validBefore, nonce } = proof.authorization
  const { network, asset, wallet, amountAtomic } = expected
  const settlement: Settlement = {
    header,
    expected,
    authorization: {
      method: 'eip3009',
      token: asset.address as Hex,
      from,
      to,
      amountAtomic: value,
      nonce,
      validAfter,
      validBefore,
      signature: proof.signature,
    },
  }
  const stack = await loadStack('evm')
  locks ??= browserLocks()
  const order = {
    id: crypto.randomUUID(),
    createdAt: serverNow(),
    network: network.network,
    asset,
    sender: wallet,
    recipient: wallet,
    amountAtomic,
    walletName,
  }
  return new PaymentRun(
    {
      service: settleService(settlement),
      wallet: stack.wallet,
      chain: settleChain(settlement, stack),
      reader: settleReader(settlement),
      journal,
      locks,
      clock,
    },
    order,
  )
}
