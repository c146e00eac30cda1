import { encodeFunctionData, parseAbi, type Hex } from 'viem'
import { digestOf } from '#chains/evm/authorization.ts'
import { addressFact, fact, textFact } from '#contract/facts.ts'
import { chainIdOf } from '#contract/network.ts'
import type { PaymentPayload } from '#x402/payload.ts'
import { callRpc, RpcError } from '../../rpc/call.ts'
import { chooseNode } from '../../rpc/check-node.ts'
import type { Check } from '../../payment-view/check.ts'
import type { Body } from './proof/facts.ts'
import type { Expected } from './proof/local-checks.ts'
import { authorizationOf } from './settle/execute.ts'

type Message = Extract<Body, { kind: 'authorization' | 'permit' }>
type Question = { payment: PaymentPayload; body: Message; expected: Expected }

const abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])
const VALID = '0x1626ba7e'

/**
 * Asks a payer that is a contract, such as a Safe, whether it signed a message (EIP-1271), through
 * the reader's own node. Null: the payer is not a contract, so only its key can sign. `open`: the
 * node, or the proof, does not say enough.
 */
export async function readPayerContract({
  payment,
  body,
  expected,
}: Question): Promise<Check | null> {
  const authorization = authorizationOf(body, expected)
  const { from, signature } = authorization
  const row = { name: 'signature', source: 'chain', expected: addressFact(from) } as const
  try {
    const { url, node } = await chooseNode(expected.network)
    if (!node.ok) return { ...row, state: 'open', got: textFact(node.problem) }
    if ((await callRpc(url, 'eth_getCode', [from, 'latest'])) === '0x') return null
    const domain = domainOf(payment, body)
    if (domain === null) return { ...row, state: 'open', got: fact('token_name_missing') }
    const hash = digestOf(authorization, {
      chainId: chainIdOf(expected.network.network),
      ...domain,
    })
    const data = encodeFunctionData({
      abi,
      functionName: 'isValidSignature',
      args: [hash, signature],
    })
    return (await confirms(url, from, data))
      ? { ...row, state: 'ok', got: addressFact(from) }
      : { ...row, state: 'bad', got: fact('contract_refused'), reason: 'invalid_signature' }
  } catch (error) {
    if (error instanceof RpcError) return { ...row, state: 'open', got: textFact(error.message) }
    throw error
  }
}

async function confirms(url: string, contract: Hex, data: Hex): Promise<boolean> {
  try {
    const answer = await callRpc(url, 'eth_call', [{ to: contract, data }, 'latest'])
    return typeof answer === 'string' && answer.startsWith(VALID)
  } catch (error) {
    if (error instanceof RpcError && error.refused) return false
    throw error
  }
}

/** Permit2 has its own domain. Null: the proof does not include the token's domain name. */
function domainOf(
  payment: PaymentPayload,
  body: Message,
): { name: string; version: string } | null {
  if (body.kind === 'permit') return { name: '', version: '' }
  if (payment.x402Version !== 2) return null
  const { name, version } = payment.accepted.extra
  return typeof name === 'string' && typeof version === 'string' ? { name, version } : null
}
