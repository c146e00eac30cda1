import * as v from 'valibot'
import {
  encodeFunctionData,
  erc20Abi,
  numberToHex,
  pad,
  parseAbi,
  toEventSelector,
  toHex,
  type Hex,
} from 'viem'
import { carriesOut, permit2Abi, type Authorization } from '#chains/evm/authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import {
  decodeAuthorization,
  domainSeparator,
  type TokenAuthorization,
} from '#chains/evm/token-authorization.ts'
import { decodePermit, type TokenPermit } from '#chains/evm/token-permit.ts'
import type { WalletPaymentIntent } from '../payment-intent/intent.ts'
import { callNetwork } from '../rpc/call.ts'
import type { Network } from '#contract/network.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'

/**
 * The two messages by which a payer of tokens lets others execute a payment, and their state as the
 * reader's own node shows it.
 */
export type Message = {
  chainId: number
  /** Unix seconds: after this it cannot be executed. Permit2 includes this second. */
  validBefore: bigint
  /** Executed, or cancelled by the payer, in the newest state or in that of one block. */
  isUsed(node: MessageNode, at?: BlockId): Promise<boolean>
  /** The transaction that executed it, searched from a block on; undefined if it was cancelled. */
  find(
    node: MessageNode,
    order: WalletPaymentIntent,
    fromBlock: number,
  ): Promise<string | undefined>
  /** Whether this chain's contracts are those whose rules the message is signed for. */
  isKnown(node: MessageNode): Promise<boolean>
}

const ABI = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
])
const USED = toEventSelector('AuthorizationUsed(address,bytes32)')
const TRANSFER = toEventSelector('Transfer(address,address,uint256)')

const hex = v.pipe(v.string(), v.regex(/^0x[0-9a-f]*$/i), v.toLowerCase())
export const quantity = v.pipe(
  hex,
  v.transform((text) => BigInt(text === '0x' ? '0x0' : text)),
)
const Block = v.object({ number: quantity, hash: v.string(), timestamp: quantity })
export type MessageBlock = v.InferOutput<typeof Block>
const Logs = v.array(v.object({ transactionHash: v.string(), data: v.string() }))
const Transaction = v.object({ to: v.nullable(v.string()), input: hex })

/** A tag, a number, or one block of the chain by its hash (EIP-1898). */
export type BlockId = string | { blockHash: string; requireCanonical: true }
export type MessageNode = ReturnType<typeof openNode>

type ViewOptions = { from?: string; at?: BlockId | undefined }

export function openNode(network: Network) {
  const call = (method: string, params: readonly unknown[]) => callNetwork(network, method, params)
  return {
    call,
    block: async (tag: string) => v.parse(Block, await call('eth_getBlockByNumber', [tag, false])),
    view: async (to: string, data: Hex, { from, at = 'latest' }: ViewOptions = {}) =>
      v.parse(hex, await call('eth_call', [{ to, data, ...(from && { from }) }, at])),
  }
}

export async function readBalance(
  node: MessageNode,
  token: string,
  owner: string,
): Promise<bigint> {
  return v.parse(
    quantity,
    await node.view(
      token,
      encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner as Hex] }),
    ),
  )
}

/** How much of a token Permit2 may take from an owner. */
export async function readAllowance(
  network: Network,
  token: string,
  owner: string,
): Promise<bigint> {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'allowance',
    args: [owner as Hex, PERMIT2],
  })
  return v.parse(quantity, await openNode(network).view(token, data))
}

/** Reads a message from its stored bytes. @throws Error */
export function readMessage(bytes: Uint8Array): Message {
  const authorization = decodeAuthorization(bytes)
  if (authorization.ok) return ofAuthorization(authorization.authorization)
  const permit = decodePermit(bytes)
  if (permit.ok) return ofPermit(permit.permit)
  throw new Error(authorization.problem.code)
}

function ofAuthorization(authorization: TokenAuthorization): Message {
  const { domain, message } = authorization
  const token = domain.verifyingContract
  return {
    chainId: domain.chainId,
    validBefore: message.validBefore,
    isUsed: async (node, at) => {
      const data = encodeFunctionData({
        abi: ABI,
        functionName: 'authorizationState',
        args: [message.from, message.nonce],
      })
      return BigInt(await node.view(token, data, { at })) !== 0n
    },
    find: async (node, _order, fromBlock) => {
      const topics = [USED, pad(message.from), message.nonce]
      const found = await node.call('eth_getLogs', [
        { address: token, fromBlock: numberToHex(fromBlock), toBlock: 'latest', topics },
      ])
      return v.parse(Logs, found)[0]?.transactionHash
    },
    // With any other name of the token the signature would match nothing, or something else.
    isKnown: async (node) =>
      (await node.view(
        token,
        encodeFunctionData({ abi: ABI, functionName: 'DOMAIN_SEPARATOR' }),
      )) === domainSeparator(authorization),
  }
}

function ofPermit(permit: TokenPermit): Message {
  const { from, to, token, nonce } = permit
  return {
    chainId: permit.chainId,
    validBefore: permit.deadline,
    isUsed: async (node, at) => {
      const data = encodeFunctionData({
        abi: permit2Abi,
        functionName: 'nonceBitmap',
        args: [from, nonce >> 8n],
      })
      return ((BigInt(await node.view(PERMIT2, data, { at })) >> (nonce & 0xffn)) & 1n) === 1n
    },
    // Permit2 emits no event for a use: only the call itself shows which permit moved the tokens.
    find: async (node, { amountAtomic }, fromBlock) => {
      const topics = [TRANSFER, pad(from), pad(to)]
      const logs = v.parse(
        Logs,
        await node.call('eth_getLogs', [
          { address: token, fromBlock: numberToHex(fromBlock), toBlock: 'latest', topics },
        ]),
      )
      for (const { transactionHash, data } of logs) {
        if (BigInt(data) !== amountAtomic) continue
        const { to: called, input } = v.parse(
          Transaction,
          await node.call('eth_getTransactionByHash', [transactionHash]),
        )
        if (carriesOut(named(permit), { to: called, input: input as Hex })) return transactionHash
      }
      return undefined
    },
    isKnown: async (node) => {
      const codes = await Promise.all(
        [PERMIT2, EXACT_PERMIT2_PROXY].map((address) =>
          node.call('eth_getCode', [address, 'latest']),
        ),
      )
      return codes.every((code) => typeof code === 'string' && code.length > 2)
    },
  }
}

/** The permit as the chain identifies it; finding it does not need its signature. */
function named({
  token,
  from,
  to,
  amount,
  nonce,
  validAfter,
  deadline,
}: TokenPermit): Authorization {
  return {
    method: 'permit2',
    token,
    from,
    to,
    amountAtomic: amount,
    nonce: toHex(nonce, { size: 32 }),
    validAfter,
    validBefore: deadline,
    signature: '0x',
  }
}
