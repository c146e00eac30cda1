import { secp256k1 } from '@noble/curves/secp256k1.js'
import * as v from 'valibot'
import {
  concat,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  parseAbi,
  parseAbiItem,
  size,
  slice,
  type Hex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { Permit2Payload } from '#x402/authorization.ts'
import { encodeHeader } from '#x402/header.ts'
import { alter } from '../proofs.ts'
import { sendFrom } from '../token-payers.ts'
import {
  authorizationHeader,
  authorize,
  nowSeconds,
  signAuthorization,
  type ResourcePrice,
  type AttackHarness,
  type ShopResponse,
} from './run.ts'

/** What several attacks do, or present. */

export const usdcAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
])

/** What a new payer pays for a path, presented nowhere yet. */
export async function prepare(stage: AttackHarness, path = '/a') {
  const [payer, asked] = await Promise.all([stage.payer(), stage.ask(path)])
  return { payer, asked, header: await authorize(payer, asked) }
}

export const times = <T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)))

/** Resolves in the handlers that run while the attack waits for `count` of them, or after a second. */
export function meet(count: number): () => Promise<void> {
  const met = Promise.withResolvers<void>()
  let waiting = 0
  return () => {
    if (++waiting >= count) met.resolve()
    setTimeout(() => met.resolve(), 1_000)
    return met.promise
  }
}

/** A settlement that failed is over when its authorization is, so these end soon. */
export const soon = () => ({ validBefore: BigInt(nowSeconds() + 12) })

/** Moves everything a payer has elsewhere. */
export async function emptyWallet(
  { evm, tokens }: AttackHarness,
  payer: PrivateKeyAccount,
): Promise<void> {
  const held = await evm.client.readContract({
    address: getAddress(tokens.usdc.address),
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [payer.address],
  })
  const elsewhere = await evm.wallet(0n)
  const args = [elsewhere.address, held] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await sendFrom(evm, payer, { to: getAddress(tokens.usdc.address), data })
}

/** Sends a payer's own authorization, as anybody who saw its header can. */
export async function broadcastFirst(
  stage: AttackHarness,
  payer: PrivateKeyAccount,
  asked: ResourcePrice,
): Promise<string> {
  const { authorization, signature } = await signAuthorization(payer, asked)
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const data = encodeFunctionData({
    abi: usdcAbi,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  })
  const thirdParty = await stage.evm.wallet(10n ** 18n)
  await sendFrom(stage.evm, thirdParty, { to: getAddress(asked.accepted.asset), data })
  return authorizationHeader(asked, authorization, signature)
}

const ORDER = secp256k1.Point.Fn.ORDER

/** Other bytes for the same signature, of which a contract or a decoder may accept some. */
function signatureTwins(signature: Hex): Hex[] {
  const [r, s, last] = [slice(signature, 0, 32), slice(signature, 32, 64), slice(signature, 64, 65)]
  const odd = last === '0x1c'
  const highS = `0x${(ORDER - BigInt(s)).toString(16).padStart(64, '0')}` as const
  const compact =
    `0x${(BigInt(s) | (odd ? 1n << 255n : 0n)).toString(16).padStart(64, '0')}` as const
  return [
    concat([r, highS, odd ? '0x1b' : '0x1c']),
    concat([r, s, odd ? '0x01' : '0x00']),
    concat([r, compact]),
    concat([signature, '0x00']),
    `0x${signature.slice(2).toUpperCase()}`,
  ]
}

/** Other spellings of a header whose meaning is the same. */
export function headerTwins(header: string): string[] {
  const text = Buffer.from(header, 'base64').toString()
  const value: Record<string, unknown> = JSON.parse(text)
  const reversed = Object.fromEntries(Object.entries(value).toReversed())
  const signature = String(JSON.parse(text).payload.signature)
  if (size(signature as Hex) !== 65) throw new Error('The signature has 65 bytes.')
  return [
    encodeHeader(reversed),
    Buffer.from(JSON.stringify(value, undefined, 2)).toString('base64'),
    Buffer.from(text).toString('base64url'),
    `${header}====`,
    encodeHeader({ ...value, note: 'another value' }),
    alter(header, ({ payload, ...rest }) => ({
      ...rest,
      payload: { ...payload, authorization: upperCase(payload.authorization) },
    })),
    ...signatureTwins(signature as Hex).map((twin) =>
      alter(header, ({ payload, ...rest }) => ({
        ...rest,
        payload: { ...payload, signature: twin },
      })),
    ),
  ]
}

/** The authorization with its addresses and nonce in upper case. */
function upperCase(authorization: unknown): unknown {
  return JSON.parse(
    JSON.stringify(authorization).replaceAll(
      /0x([0-9a-fA-F]{40,64})/g,
      (_, digits: string) => `0x${digits.toUpperCase()}`,
    ),
  )
}

export const transferEvent = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
)

export const Permit2Header = v.object({ payload: Permit2Payload })

/** Stores every successful answer that RFC 9111 lets a shared cache store, by its address. */
export function sharedCache(): typeof fetch {
  const stored = new Map<string, Response>()
  return async (input, init) => {
    const url = String(input)
    const known = stored.get(url)
    if (known) return known.clone()
    const response = await fetch(input, init)
    const control = response.headers.get('cache-control') ?? ''
    if (response.ok && !/private|no-store/.test(control)) stored.set(url, response.clone())
    return response
  }
}

export const UNREADABLE = [
  'x',
  'null',
  '{}',
  'e30=',
  'bnVsbA==',
  'W10=',
  'MQ==',
  '=',
  '%00',
  '%F0%9F%92%B8',
  'A'.repeat(7_000),
  Buffer.from('{"x402Version":2').toString('base64'),
  Buffer.from('{"x402Version":2,"payload":null,"accepted":null}').toString('base64'),
  Buffer.from('{"x402Version":2,"payload":{},"accepted":{}}').toString('base64'),
  Buffer.from('{"x402Version":99,"payload":{},"accepted":{}}').toString('base64'),
  Buffer.from('{"x402Version":1,"scheme":"exact","network":"base","payload":"x"}').toString(
    'base64',
  ),
  Buffer.from('{"x402Version":2,"payload":{"a":"\\u0000"},"accepted":{"scheme":{}}}').toString(
    'base64',
  ),
  Buffer.from([0xff, 0xfe, 0xfd]).toString('base64'),
  Buffer.from('['.repeat(3_000)).toString('base64'),
]

/** Blocks come 400 ms apart, and none after the answer. */
async function mineUntil(
  { evm, stopBlocks }: AttackHarness,
  answer: Promise<ShopResponse>,
): Promise<ShopResponse> {
  stopBlocks()
  let answered = false
  const noted = answer.finally(() => void (answered = true))
  const passed = () => new Promise((resolve) => setTimeout(resolve, evm.network.blockTimeMs))
  while (!answered) {
    await evm.mine()
    await Promise.race([noted, passed()])
  }
  return noted
}

/** Removes the last blocks once a resource was delivered; the payer uses its money elsewhere. */
export async function reorganize(stage: AttackHarness, depth: number): Promise<void> {
  const { payer, header } = await prepare(stage)
  // The payer's funds are older than what is removed.
  await stage.evm.mine(10)
  const { delivered } = await mineUntil(stage, stage.present('/a', header))
  if (!delivered) return
  await stage.evm.client.request({
    // @ts-expect-error viem does not name this method of anvil.
    method: 'anvil_rollback',
    params: [depth],
  })
  await emptyWallet(stage, payer)
}

export async function untilChainTime({ evm }: AttackHarness, seconds: bigint): Promise<void> {
  for (;;) {
    const { timestamp } = await evm.client.getBlock()
    if (timestamp > seconds + 1n) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Until a settlement waits for a block. */
export async function untilPooled({ evm }: AttackHarness): Promise<void> {
  const deadline = Date.now() + 5_000
  for (;;) {
    const { pending } = await evm.client.getTxpoolStatus()
    if (pending > 0 || Date.now() > deadline) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
