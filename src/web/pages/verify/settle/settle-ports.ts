import { t } from '@lingui/core/macro'
import { numberToHex, type Hex } from 'viem'
import * as v from 'valibot'
import { callOf, type Authorization } from '#chains/evm/authorization.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { maxFeeAtomic } from '#chains/evm/fee.ts'
import { describeSettlement, matchSettlement } from '#chains/evm/settlement.ts'
import { encodeAuthorization } from '#chains/evm/token-authorization.ts'
import { formatAmount } from '#contract/amount.ts'
import { chainIdOf, nativeAsset, type Network } from '#contract/network.ts'
import { LosslessNumber } from '#contract/json.ts'
import { decodeBase64 } from '#x402/header.ts'
import { call } from '../../../api/client.ts'
import type { Simulation, Trouble } from '../../../payment/order.ts'
import type { PaymentChain, PaymentService, TransactionReader } from '../../../payment/ports.ts'
import { describeTrouble } from '../../../payment/trouble-words.ts'
import { callRpc, RpcProblem, rpcUrlOf } from '../../../rpc/call.ts'
import { intentOf } from '../../../wallet/intent.ts'
import type { WalletStack } from '../../../wallet/stack.ts'
import { paymentService } from '../../checkout/payment-service.ts'
import { messageChain } from '../../explore/pay/message-chain.ts'
import type { Expected } from '../local-checks.ts'

/** Collecting what a payer has authorized, as one's own facilitator: through the same machine as every payment. */

export type Settlement = { header: string; authorization: Authorization; expected: Expected }

class NothingToSettle extends Error {
  override name = 'NothingToSettle'
}

export function settleService({ header, expected }: Settlement): PaymentService {
  const { network, asset, wallet, amountAtomic, resource } = expected
  const body = {
    walletAddress: wallet,
    paymentProof: header,
    expectedAmount: new LosslessNumber(formatAmount(amountAtomic, asset.decimals)),
    network: network.network,
    asset: asset.address,
    ...(resource !== null && { resource }),
  }
  return {
    build: async (_order, key) => {
      const reply = await call('transactionReceive', { body }, { idempotencyKey: key, timeoutMs: 45_000 })
      const bytes = decodeBase64(reply.transaction)
      if (reply.settlement !== 'required' || reply.signer !== wallet || !bytes) throw new NothingToSettle()
      return { paymentId: reply.paymentId, bytes, lastValidBlockHeight: reply.lastValidBlockHeight, expiresAt: reply.expiresAt }
    },
    report: async (paymentId, signature) => {
      await call('transactionSubmitted', { body: { paymentId, signature } }, { idempotencyKey: `${paymentId}:${signature.slice(0, 100)}` })
    },
    explain,
  }
}

function explain(error: unknown): Trouble {
  if (!(error instanceof NothingToSettle)) return paymentService.explain(error)
  return describeTrouble('already_settled')
}

export function settleReader({ authorization, expected }: Settlement): TransactionReader {
  return {
    match: (order, attempt, bytes) => matchSettlement(intentOf(order, attempt, nativeAsset(expected.network)), authorization, bytes),
    describe: (order) => describeSettlement(authorization, order.asset),
    nonce: (_order, bytes) => {
      const decoded = decodeTransaction(bytes)
      return decoded.ok ? decoded.nonce : null
    },
    // On EVM the wallet sends by itself: no bytes come back.
    compareSigned: () => ({ ok: false, difference: 'wallets of this network return no bytes.' }),
  }
}

export function settleChain({ authorization, expected }: Settlement, stack: WalletStack): PaymentChain {
  const { network } = expected
  const watch = messageChain(network)
  const { from, to, amountAtomic, validAfter, validBefore, nonce, token } = authorization
  const domain = { name: '', version: '', chainId: chainIdOf(network.network), verifyingContract: token }
  const signed = encodeAuthorization({ domain, message: { from, to, value: amountAtomic, validAfter, validBefore, nonce } })
  return {
    ...stack.chain,
    feeCap: () => Promise.resolve(maxFeeAtomic(0n, { native: false })),
    simulate: (order) => simulate(network, { payee: order.sender, authorization }),
    // Whoever carries it out, the payee has the tokens: the authorization is looked for, not the transaction.
    read: async (order, built, sent) => {
      const reading = await watch.read({ ...order, sender: from }, { ...built, bytes: signed }, sent)
      return reading.kind === 'absent' && sent.signature ? { kind: 'pending', at: reading.at, signature: sent.signature } : reading
    },
  }
}

const Quantity = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]+$/i),
  v.transform((text) => BigInt(text)),
)

/** The very call, tried out at the payee's own node, and whether the payee can pay the network for it. */
async function simulate(network: Network, { payee, authorization }: { payee: string; authorization: Authorization }): Promise<Simulation> {
  const url = rpcUrlOf(network)
  const { symbol } = nativeAsset(network)
  try {
    const held = v.parse(Quantity, await callRpc(url, 'eth_getBalance', [payee, 'latest']))
    if (held === 0n) return { state: 'failed', reason: t`your account holds no ${symbol} for the network fee.` }
    const { to, data }: { to: Hex; data: Hex } = callOf(authorization)
    await callRpc(url, 'eth_call', [{ from: payee, to, data, value: numberToHex(0n) }, 'latest'])
    return { state: 'passed', changes: [] }
  } catch (error) {
    if (error instanceof RpcProblem && error.message.includes('refused'))
      return { state: 'failed', reason: t`the token refuses it: the payer may hold too little, or has taken it back.` }
    return { state: 'unavailable', reason: t`your connection to the network did not answer.` }
  }
}
