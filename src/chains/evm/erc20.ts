import { checksumAddress } from '#contract/address.ts'
import type { CallName } from '#contract/facts.ts'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'

/** What a call of `transfer(address,uint256)` moves. */
export type Erc20Transfer = { recipient: string; amountAtomic: bigint }

/** One `Transfer` event of a token. */
export type TokenMove = { from: string; to: string; amountAtomic: bigint }

/** An event as a receipt holds it. */
export type ChainLog = { address: string; topics: readonly string[]; data: string }

/** keccak256("Transfer(address,address,uint256)") */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Selector of `transfer(address,uint256)`, the address in its word without dirt, and the amount: nothing before, nothing after. */
const TRANSFER_CALL = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/
const ADDRESS_WORD = /^0x0{24}([0-9a-f]{40})$/
const WORD = /^0x[0-9a-f]{64}$/

export function encodeTransfer({ recipient, amountAtomic }: Erc20Transfer): Hex {
  return encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [recipient as Hex, amountAtomic],
  })
}

/** The transfer that calldata asks a token for; undefined for every other call, and for every other spelling of this one. */
export function readTransferCall(data: Hex): Erc20Transfer | undefined {
  const [, recipient, amount] = TRANSFER_CALL.exec(data.toLowerCase()) ?? []
  return recipient && amount
    ? { recipient: checksumAddress(`0x${recipient}`), amountAtomic: BigInt(`0x${amount}`) }
    : undefined
}

/** Every movement of one token that a receipt tells of; undefined when the token wrote an event of another shape under the same name. */
export function readMoves(logs: readonly ChainLog[], token: string): TokenMove[] | undefined {
  const moves: TokenMove[] = []
  for (const { address, topics, data } of logs) {
    if (checksumAddress(address) !== token || topics[0]?.toLowerCase() !== TRANSFER_TOPIC) continue
    const [from, to] = topics.slice(1).map((topic) => ADDRESS_WORD.exec(topic.toLowerCase())?.[1])
    if (topics.length !== 3 || !from || !to || !WORD.test(data.toLowerCase())) return undefined
    moves.push({
      from: checksumAddress(`0x${from}`),
      to: checksumAddress(`0x${to}`),
      amountAtomic: BigInt(data),
    })
  }
  return moves
}

/**
 * Whether the movements are this one payment: the amount from the sender to the recipient, and nothing else out of the sender's hands. What moves nothing
 * (a fee of zero) is no movement, and what others are credited with beside it (interest that a token mints on the occasion) takes nothing from either.
 * A part that leaves the recipient cannot be told from a fee that the token takes there: the payment did not arrive in full. A recipient that passes on the
 * whole amount at once, as a contract with a hook does, was paid: no fee is that large. What goes back to the sender pays nothing.
 */
export function isOneMove(moves: readonly TokenMove[] | undefined, expected: TokenMove): boolean {
  const real = (moves ?? []).filter(({ amountAtomic }) => amountAtomic > 0n)
  const [move, ...more] = real.filter(({ from }) => from === expected.from)
  if (!move || more.length > 0) return false
  if (move.to !== expected.to || move.amountAtomic !== expected.amountAtomic) return false
  const onward = real.filter(({ from }) => from === expected.to)
  if (onward.some(({ to }) => to === expected.from)) return false
  return onward.length === 0 || sumOf(onward) >= expected.amountAtomic
}

/** What a recipient has of a sender's token after these movements, atomic units. */
export function arrived(
  moves: readonly TokenMove[] | undefined,
  { from, to }: Pick<TokenMove, 'from' | 'to'>,
): bigint {
  const all = moves ?? []
  const [received, left] = [
    sumOf(all.filter((move) => move.from === from && move.to === to)),
    sumOf(all.filter((move) => move.from === to)),
  ]
  return received > left ? received - left : 0n
}

function sumOf(moves: readonly TokenMove[]): bigint {
  return moves.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
}

/** Calls that hand a token, or the right to take it, to another account. They are never a payment; a refusal names them. */
const CALLS: Readonly<Record<string, CallName>> = {
  '0xa9059cbb': 'irregular_transfer',
  '0x095ea7b3': 'approve',
  '0x39509351': 'increase_allowance',
  '0xd505accf': 'permit',
  '0x8fcbaf0c': 'permit',
  '0x2b67b570': 'permit2_permit',
  '0x87517c45': 'permit2_approve',
  '0xa22cb465': 'approve_all',
  '0x23b872dd': 'transfer_from',
  '0xe3ee160e': 'transfer_with_authorization',
  '0xcf092995': 'transfer_with_authorization',
  '0xac9650d8': 'multicall',
}

/** The selector of a call, and what it means; null where this program does not know it. */
export function nameCall(data: Hex): { selector: string; call: CallName | null } {
  const selector = data.slice(0, 10).toLowerCase()
  return { selector, call: CALLS[selector] ?? null }
}
