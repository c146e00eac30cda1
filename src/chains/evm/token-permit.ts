import * as v from 'valibot'
import { hashTypedData, getAbiItem, toEventSelector, toFunctionSelector, type Hex } from 'viem'
import { checksumAddress } from '#contract/address.ts'
import {
  addressFact,
  amountFact,
  fact,
  networkFact,
  textFact,
  type MoneyAsset,
} from '#contract/facts.ts'
import { stringifyJson } from '#contract/json.ts'
import { chainIdOf, type NetworkId } from '#contract/network.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  type Step,
  conclude,
  equalRow,
  refuse,
} from '../match.ts'
import {
  authorizationAbi,
  pays,
  proxyAbi,
  readPermit,
  type Authorization,
} from './authorization.ts'
import { readMoves, type ChainLog, type TokenMove } from './erc20.ts'
import { currencyFact } from './match.ts'
import {
  addressText,
  chainIdNumber,
  digitsText,
  readSignedText,
  untilFact,
  PERMIT2,
  PERMIT_TYPES,
} from './signed-types.ts'
import { recoverSigner } from './token-authorization.ts'

/**
 * A transfer of any ERC-20 that the payer signs as a Permit2 message and another account sends,
 * through the one contract that can pay only the payee named in it. Its bytes, here and in the
 * browser's journal, are the canonical JSON of every signed field.
 * @see scheme_exact_evm.md "AssetTransferMethod: permit2"; Permit2 `PermitWitnessTransferFrom`
 */
const Text = v.strictObject({
  chainId: chainIdNumber,
  verifyingContract: addressText,
  from: addressText,
  token: addressText,
  amount: digitsText,
  /** The contract that may execute it. */
  spender: addressText,
  nonce: digitsText,
  /** Unix seconds; both ends are exclusive. */
  validAfter: digitsText,
  deadline: digitsText,
  /** The payee. */
  to: addressText,
})
export type TokenPermit = v.InferOutput<typeof Text>

export type DecodedPermit =
  | { ok: true; permit: TokenPermit }
  | { ok: false; problem: DecodeProblem }

export function encodePermit(permit: TokenPermit): Uint8Array {
  const {
    chainId,
    verifyingContract,
    from,
    token,
    amount,
    spender,
    nonce,
    validAfter,
    deadline,
    to,
  } = permit
  const spelled = {
    amount: amount.toString(),
    spender,
    nonce: nonce.toString(),
    validAfter: validAfter.toString(),
    deadline: deadline.toString(),
    to,
  }
  return new TextEncoder().encode(
    stringifyJson({ chainId, verifyingContract, from, token, ...spelled }),
  )
}

/** Reads a permit in its only valid encoding. */
export function decodePermit(bytes: Uint8Array): DecodedPermit {
  const read = readSignedText(bytes, Text, encodePermit)
  return read.ok ? { ok: true, permit: read.value } : read
}

/** The EIP-712 typed data of a permit, as a wallet is asked to sign it. The signer is the payer. */
export function permitTypedData({
  chainId,
  verifyingContract,
  token,
  amount,
  spender,
  nonce,
  deadline,
  to,
  validAfter,
}: TokenPermit) {
  return {
    domain: { name: 'Permit2', chainId, verifyingContract },
    types: PERMIT_TYPES,
    primaryType: 'PermitWitnessTransferFrom' as const,
    message: {
      permitted: { token, amount },
      spender,
      nonce,
      deadline,
      witness: { to, validAfter },
    },
  }
}

/** The account whose key signed a permit; undefined for an invalid or malleable signature. */
export function permitSignerOf(permit: TokenPermit, signature: Uint8Array): string | undefined {
  return recoverSigner(hashTypedData(permitTypedData(permit)), signature)
}

/**
 * Compares a payment with a permit that is to be signed, field by field. `ok` means: any account
 * that sends it moves exactly this amount of this token from the payer to the recipient, once,
 * before `latest` (Unix seconds), or nothing; and the payer is charged nothing else.
 */
export function matchPermit(intent: PaymentIntent, bytes: Uint8Array, latest: bigint): Match {
  const decoded = decodePermit(bytes)
  if (!decoded.ok) return refuse(decoded.problem, bytes)
  const { permit } = decoded
  const { asset } = intent
  const token = permit.token.toLowerCase() === intent.asset.address.toLowerCase()
  const rows: MatchRow[] = [
    equalRow('network', [intent.network, `eip155:${permit.chainId}`], networkFact),
    equalRow('sender', [intent.sender, permit.from]),
    {
      field: 'recipient',
      ok: permit.to === intent.recipient && permit.to !== intent.sender,
      expected: addressFact(intent.recipient),
      got: addressFact(permit.to),
    },
    {
      field: 'amount',
      ok: permit.amount === intent.amountAtomic && permit.amount > 0n,
      expected: amountFact(intent.amountAtomic, asset),
      got: amountFact(permit.amount, asset),
    },
    {
      field: 'asset',
      ok: token && !intent.asset.native,
      expected: currencyFact(asset.symbol),
      got: token ? currencyFact(asset.symbol) : addressFact(permit.token),
    },
    // Any other contract could send the tokens anywhere.
    equalRow('spender', [EXACT_PERMIT2_PROXY, permit.spender]),
    equalRow('contract', [PERMIT2, permit.verifyingContract]),
    { field: 'fee', ok: true, expected: fact('nothing'), got: fact('nothing') },
    {
      field: 'expiry',
      ok: permit.deadline <= latest && permit.validAfter < permit.deadline,
      expected: untilFact(latest),
      got: untilFact(permit.deadline),
    },
    {
      field: 'instructions',
      ok: true,
      expected: fact('one_signed_transfer'),
      got: fact('one_signed_transfer'),
    },
  ]
  return conclude(rows, ['evm-permit', meaningOf(intent.network, permit)])
}

/** The permit as one step of the review. */
export function describePermit(bytes: Uint8Array, asset: MoneyAsset): Step[] {
  const decoded = decodePermit(bytes)
  if (!decoded.ok) return []
  const { from, to, amount, token, spender, nonce } = decoded.permit
  const parties = {
    from: addressFact(from),
    to: addressFact(to),
    amount: amountFact(amount, asset),
    token: addressFact(token),
  }
  return [
    {
      kind: 'token_transfer',
      facts: { ...parties, spender: addressFact(spender), nonce: textFact(nonce.toString()) },
    },
  ]
}

/** Everything that matters to the payer; the nonce and the times do not. */
function meaningOf(
  network: NetworkId,
  { chainId, verifyingContract, from, token, amount, spender, to }: TokenPermit,
): string {
  return [
    chainIdOf(network),
    chainId,
    verifyingContract,
    from,
    token.toLowerCase(),
    amount,
    spender,
    to,
  ].join(' ')
}

/**
 * What a transaction of a third-party contract shows about the permits it had the proxy execute.
 */

const CALLS = (['settle', 'settleWithPermit'] as const).map((name) =>
  toFunctionSelector(getAbiItem({ abi: proxyAbi, name })).slice(2),
)
const EVENTS: readonly string[] = (['Settled', 'SettledWithPermit'] as const).map((name) =>
  toEventSelector(getAbiItem({ abi: proxyAbi, name })),
)

/**
 * Hex digits of the longest call that is read, and the most calls: data made only of call prefixes
 * would take minutes.
 */
const LONGEST = 2 * 4_096
const MOST_CALLS = 256

/**
 * The nonces of all permits with the same payer, payee, token and amount that a transaction's data
 * contains as calls of the proxy: a contract passes a call on byte for byte. The data does not show
 * whether such a call was made. Empty when there are more candidates than anyone sends.
 */
export function noncesWithin(authorization: Authorization, input: Hex): Set<Hex> {
  const nonces = new Set<Hex>()
  let calls = 0
  for (const call of CALLS) {
    for (let at = input.indexOf(call); at >= 0; at = input.indexOf(call, at + 1)) {
      if (++calls > MOST_CALLS) return new Set()
      const permit = readPermit(`0x${input.slice(at, at + LONGEST)}`)
      if (permit !== undefined && pays(permit, authorization)) nonces.add(permit.nonce)
    }
  }
  return nonces
}

const USED = toEventSelector(getAbiItem({ abi: authorizationAbi, name: 'AuthorizationUsed' }))

/**
 * How many such permits the proxy executed in a transaction. For each, its event comes right after
 * the token's transfer event. What EIP-3009 moved is no permit's: its use comes right before the
 * transfer, or right after it where the token writes it there.
 */
export function countCarried(authorization: Authorization, logs: readonly ChainLog[]): number {
  let last: (TokenMove & { asset: string }) | undefined
  let count = 0
  // Whether the log before, a use or a transfer, has its other half.
  let isPaired = false
  for (const [index, log] of logs.entries()) {
    const asset = checksumAddress(log.address)
    const [move] = readMoves([log], asset) ?? []
    const isUse = log.topics[0] === USED
    const previous = logs[index - 1]
    const before: ChainLog | undefined =
      previous && !isPaired && isOfOnePayer(previous, log) ? previous : undefined
    if (move) {
      isPaired = before?.topics[0] === USED
      last = isPaired ? undefined : { ...move, asset }
    } else if (isUse) {
      isPaired = before !== undefined && readMoves([before], asset)?.length === 1
      if (isPaired) last = undefined
    } else isPaired = false
    if (asset !== checksumAddress(EXACT_PERMIT2_PROXY) || !EVENTS.includes(log.topics[0] ?? ''))
      continue
    if (last && isOf(authorization, last)) count++
    last = undefined
  }
  return count
}

/** Whether two events, each a transfer or a use, are of the same token and payer. */
function isOfOnePayer(one: ChainLog, other: ChainLog): boolean {
  return (
    one.address.toLowerCase() === other.address.toLowerCase() && one.topics[1] === other.topics[1]
  )
}

function isOf(
  { from, to, token, amountAtomic }: Authorization,
  move: TokenMove & { asset: string },
): boolean {
  const same = [token, from, to].every(
    (address, index) => checksumAddress(address) === [move.asset, move.from, move.to][index],
  )
  return same && move.amountAtomic === amountAtomic
}
