import { encodeFunctionData, isAddressEqual, verifyTypedData, type Abi, type Hex } from 'viem'
import type { FacilitatorEvmSigner } from '@x402/evm'
import { callOf, ECDSA_LENGTH, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { EXACT_SCHEME } from '#x402/methods.ts'
import type { ContractCall, Contracts } from '../chains/contracts.ts'
import type { ExpectedTerms } from './terms.ts'

/**
 * The facilitator of the official packages, in this process and behind our own checks. It reads the
 * chain through ours, broadcasts through `submit`, and is not trusted: the chain is read again in
 * any case. Each call has a separate instance, so that nothing is remembered in memory.
 */
export type Official = {
  contracts: Contracts
  terms: ExpectedTerms
  authorization: VerifiedAuthorization
  /** The wallet that pays the network fee. */
  address: string
  /** This very call was executed in a simulation a moment ago, for a payer without code: neither is asked for again. */
  isExecuted?: boolean
}

/** Its verdict, as its reason code; null when it is satisfied. */
export async function verifyOfficially(official: Official): Promise<string | null> {
  if (!takesOfficially(official)) return null
  const { payload, requirements, scheme, unread } = await prepare(official, () =>
    Promise.reject(new Error('Nothing is submitted while a payment is verified.')),
  )
  const { isValid, invalidReason } = await scheme.verify(payload, requirements)
  if (!isValid && 'error' in unread) throw unread.error
  return isValid ? null : (invalidReason ?? 'invalid')
}

/**
 * Has it settle, and resolves with its verdict once `submit` has run or it has refused before that.
 * Errors of `submit` are thrown here; its messages hold node addresses and call bytes, and are not
 * passed on.
 */
export async function settleOfficially(
  official: Official,
  submit: (call: ContractCall) => Promise<Hex>,
): Promise<string | null> {
  if (!takesOfficially(official)) {
    await submit(callOf(official.authorization))
    return null
  }
  const failure: { error?: unknown } = {}
  const { payload, requirements, scheme, unread } = await prepare(official, async (call) => {
    try {
      return await submit(call)
    } catch (error) {
      failure.error = error
      throw error
    }
  })
  const { success, errorReason } = await scheme.settle(payload, requirements)
  if ('error' in failure) throw failure.error
  if (!success && 'error' in unread) throw unread.error
  return success ? null : (errorReason ?? 'failed')
}

/**
 * The package reads v, r and s from every 65-byte signature, and throws where the last byte is not
 * a key's v. A contract's 65 bytes may mean anything, so for them only our own checks and
 * simulation decide.
 */
function takesOfficially({ authorization: { method, signature, signedBy } }: Official): boolean {
  return method !== 'eip3009' || signedBy === 'key' || signature.length !== ECDSA_LENGTH
}

type ContractQuestion = Parameters<FacilitatorEvmSigner['readContract']>[0]

async function prepare(
  { contracts, terms, authorization, address, isExecuted = false }: Official,
  submit: (call: ContractCall) => Promise<Hex>,
) {
  const { ExactEvmScheme } = await import('@x402/evm/exact/facilitator')
  const expected = callOf(authorization)
  const isExpected = ({ address: to, abi, functionName, args = [] }: ContractQuestion) => {
    const data = encodeFunctionData({ abi: abi as Abi, functionName, args: [...args] })
    return isAddressEqual(to, expected.to) && data.toLowerCase() === expected.data.toLowerCase()
  }
  // The package starts to read the token's code and may return without waiting for it: a rejection would then end
  // this process. So a failed reading answers "no code", and its error is thrown in place of the refusal.
  const unread: { error?: unknown } = {}
  const signer: FacilitatorEvmSigner = {
    getAddresses: () => [address as Hex],
    readContract: async (call) => {
      if (isExecuted && isExpected(call)) return undefined
      return contracts.read(call)
    },
    getCode: async ({ address: account }) => {
      if (isExecuted && isAddressEqual(account, authorization.from)) return '0x'
      return contracts.code(account).catch((error: unknown) => {
        unread.error = error
        return '0x' as const
      })
    },
    verifyTypedData: (args) => verifyTypedData(args),
    writeContract: async (call) => {
      // It may choose when, never what: our wallet signs the payer's authorization and nothing
      // else.
      if (!isExpected(call))
        throw new Error('The package asked for another call than the authorization.')
      return submit(expected)
    },
    sendTransaction: () => Promise.reject(new Error('No account is deployed for a payer.')),
    // The service itself follows the chain, with its own confirmation policy.
    waitForTransactionReceipt: () => Promise.reject(new Error('Followed by the service.')),
  }
  const domain =
    authorization.method === 'eip3009' ? await contracts.domain(authorization.token) : null
  const requirements = {
    scheme: EXACT_SCHEME,
    network: terms.network.network as `${string}:${string}`,
    amount: terms.amountAtomic.toString(),
    asset: terms.asset.address,
    payTo: terms.payTo,
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: authorization.method, ...domain },
  }
  const payload = { x402Version: 2, accepted: requirements, payload: payloadOf(authorization) }
  return {
    payload,
    requirements,
    unread,
    scheme: new ExactEvmScheme(signer, { eip6492AllowedFactories: [], simulateInSettle: true }),
  }
}

/** The payload as the payer sent it, from what was read of it. */
function payloadOf({
  method,
  token,
  from,
  to,
  amountAtomic,
  nonce,
  validAfter,
  validBefore,
  signature,
}: VerifiedAuthorization): Record<string, unknown> {
  const times = { validAfter: validAfter.toString(), validBefore: validBefore.toString() }
  if (method === 'eip3009')
    return {
      signature,
      authorization: { from, to, value: amountAtomic.toString(), ...times, nonce },
    }
  return {
    signature,
    permit2Authorization: {
      from,
      permitted: { token, amount: amountAtomic.toString() },
      spender: EXACT_PERMIT2_PROXY,
      nonce: BigInt(nonce).toString(),
      deadline: times.validBefore,
      witness: { to, validAfter: times.validAfter },
    },
  }
}
