import { t } from '@lingui/core/macro'
import { numberToHex, toHex, type Hex } from 'viem'
import * as v from 'valibot'
import type { Authorization } from '#chains/evm/authorization.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { maxFeeAtomic } from '#chains/evm/fee.ts'
import { describeSettlement, matchSettlement } from '#chains/evm/settlement.ts'
import { nativeAsset, type Network } from '#contract/network.ts'
import { formatDecodeProblem } from '../../../payment-intent/fact-values.ts'
import type { Simulation } from '../../../payment-intent/intent.ts'
import type { Ports } from '../../../payment-flow/dependencies.ts'
import type { PaymentChain, TransactionReader } from '../../../payment-intent/ports.ts'
import { callNetwork, RpcError } from '../../../rpc/call.ts'
import { toPaymentIntent } from '../../../wallet/state/intent.ts'
import type { WalletAdapter } from '../../../wallet/state/wallet-adapter.ts'
import { messageChain } from '../../../payment-flow/message-chain.ts'
import type { Body } from '../proof/facts.ts'
import type { Expected } from '../proof/local-checks.ts'
import { messageBytes } from '../proof/message-bytes.ts'
import type { Settlement } from './settlement.ts'

/**
 * Collecting what the payer of a token signed as a message: the payee makes the call, and pays the
 * network fee.
 */
export function executeProof(
  { facts, expected }: Settlement,
  adapter: WalletAdapter,
): Pick<Ports, 'wallet' | 'chain' | 'reader'> {
  const { body } = facts
  if (body.kind !== 'authorization' && body.kind !== 'permit')
    throw new TypeError('This proof contains no message to execute.')
  const authorization = authorizationOf(body, expected)
  return {
    wallet: adapter.wallet,
    reader: readerOf(authorization, expected),
    chain: chainOf({ authorization, expected, signed: messageBytes(body, expected) }, adapter),
  }
}

/** What the payer signed, as the arguments of the contract call. */
export function authorizationOf(
  body: Extract<Body, { kind: 'authorization' | 'permit' }>,
  { asset }: Pick<Expected, 'asset'>,
): Authorization {
  if (body.kind === 'permit') {
    const { from, permitted, nonce, deadline, witness } = body.proof.permit2Authorization
    const { to, validAfter } = witness
    const what = {
      token: permitted.token,
      from,
      to,
      amountAtomic: permitted.amount,
      nonce: toHex(nonce, { size: 32 }),
    }
    return {
      method: 'permit2',
      ...what,
      validAfter,
      validBefore: deadline,
      signature: body.proof.signature,
    }
  }
  const { value, ...rest } = body.proof.authorization
  return {
    method: 'eip3009',
    token: asset.address as Hex,
    ...rest,
    amountAtomic: value,
    signature: body.proof.signature,
  }
}

function readerOf(authorization: Authorization, { network }: Expected): TransactionReader {
  return {
    match: (order, attempt, bytes) =>
      matchSettlement(toPaymentIntent(order, attempt, nativeAsset(network)), authorization, bytes),
    describe: (order) => describeSettlement(authorization, order.asset),
    nonce: (_order, bytes) => {
      const decoded = decodeTransaction(bytes)
      return decoded.ok ? decoded.nonce : null
    },
    // On EVM the wallet sends by itself: no bytes come back.
    compareSigned: () => ({ ok: false, difference: 'wallets of this network return no bytes.' }),
  }
}

type AuthorizationCall = { authorization: Authorization; expected: Expected; signed: Uint8Array }

function chainOf(
  { authorization, expected, signed }: AuthorizationCall,
  adapter: WalletAdapter,
): PaymentChain {
  const { network } = expected
  const watch = messageChain(network)
  return {
    ...adapter.chain,
    feeCap: () => Promise.resolve(maxFeeAtomic(0n, { native: false })),
    simulate: (order, bytes) => simulate(network, { payee: order.sender, bytes }),
    // The payee gets the tokens no matter who executes it: we look for what the payer signed, not
    // for the transaction.
    read: async (order, built, sent) => {
      const reading = await watch.read(
        { ...order, sender: authorization.from },
        { ...built, bytes: signed },
        sent,
      )
      return reading.kind === 'absent' && !reading.over && sent.signature
        ? { kind: 'pending', at: reading.at, signature: sent.signature }
        : reading
    },
  }
}

const Quantity = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]+$/i),
  v.transform((text) => BigInt(text)),
)

/**
 * Simulates this very call at the payee's own node, and checks that the payee can pay the network
 * fee.
 */
async function simulate(
  network: Network,
  { payee, bytes }: { payee: string; bytes: Uint8Array },
): Promise<Simulation> {
  const { symbol } = nativeAsset(network)
  try {
    const balance = v.parse(
      Quantity,
      await callNetwork(network, 'eth_getBalance', [payee, 'latest']),
    )
    if (balance === 0n)
      return { state: 'failed', reason: t`${symbol} is missing for the network fee.` }
    const call = decodeTransaction(bytes)
    if (!call.ok) return { state: 'failed', reason: formatDecodeProblem(call.problem) }
    const { to, data } = call
    await callNetwork(network, 'eth_call', [
      { from: payee, to, data, value: numberToHex(0n) },
      'latest',
    ])
    return { state: 'passed', changes: [] }
  } catch (error) {
    if (error instanceof RpcError && error.refused)
      return {
        state: 'failed',
        reason: t`the token rejects it: low balance or cancelled.`,
      }
    return { state: 'unavailable', reason: t`the RPC endpoint did not answer.` }
  }
}
