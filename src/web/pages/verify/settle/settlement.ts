import { findAsset, nativeAsset, type Network } from '#contract/network.ts'
import { decodePayload } from '#x402/payload.ts'
import type {
  ProofTask,
  PaymentOperation,
  WalletPaymentIntent,
} from '../../../payment-intent/intent.ts'
import { factsOf, type ProofFacts } from '../proof/facts.ts'
import type { Expected } from '../proof/local-checks.ts'
import type { SettleKind } from './kinds.ts'

/** A proof that its payee settles alone, and what it is held against. */
export type Settlement = { header: string; facts: ProofFacts; expected: Expected }

export type SettleIntent = WalletPaymentIntent & { operation: Extract<PaymentOperation, ProofTask> }

export type Begin = Settlement & { kind: SettleKind; walletName: string; id: string; now: number }

/** The order by which the payment machine settles a proof, or acknowledges it. */
export function settlementIntentOf({
  header,
  facts,
  expected,
  kind,
  walletName,
  id,
  now,
}: Begin): SettleIntent {
  const { network, asset, wallet, amountAtomic, resource, memo } = expected
  const task: ProofTask = { proof: header, asset: asset.address, amountAtomic, resource, memo }
  const common = {
    id,
    createdAt: now,
    network: network.network,
    sender: wallet,
    walletName,
    ...(resource !== null && { resource }),
  }
  if (kind === 'acknowledge') {
    const recipient = facts.payer ?? wallet
    return {
      ...common,
      asset: nativeAsset(network),
      recipient,
      amountAtomic: 0n,
      operation: { kind: 'acknowledge', ...task },
    }
  }
  // On EVM the wallet of the payee sends; what the payer has signed wholly is sent from here.
  const signed = kind === 'broadcast' ? { signedOnly: true as const } : {}
  return {
    ...common,
    asset,
    recipient: wallet,
    amountAtomic,
    ...signed,
    operation: { kind: 'settle', way: kind, ...task },
  }
}

/** The settlement of an order that the journal kept. @throws Error when its proof or its asset is gone */
export function settlementOf(order: WalletPaymentIntent, networks: readonly Network[]): Settlement {
  const { operation } = order
  const network = networks.find((each) => each.network === order.network)
  if (!operation || !('proof' in operation) || !network)
    throw new Error(`${order.id} is not a settlement on a configured network.`)
  const decoded = decodePayload(operation.proof)
  const asset = findAsset(network, operation.asset)
  if (!decoded.ok || !asset) throw new Error('The proof of this settlement is not kept any more.')
  const { amountAtomic, resource, memo } = operation
  return {
    header: operation.proof,
    facts: factsOf(decoded.payload),
    expected: { network, asset, wallet: order.sender, amountAtomic, resource, memo },
  }
}
