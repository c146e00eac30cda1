import { getAbiItem, isAddressEqual, toEventSelector, toFunctionSelector, type Hex } from 'viem'
import { checksumAddress } from '#contract/address.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { proxyAbi, readPermit, type Authorization } from './authorization.ts'
import { readMoves, type ChainLog, type TokenMove } from './erc20.ts'

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
export function noncesWithin(
  { from, to, token, amountAtomic }: Authorization,
  input: Hex,
): Set<Hex> {
  const nonces = new Set<Hex>()
  let calls = 0
  for (const call of CALLS) {
    for (let at = input.indexOf(call); at >= 0; at = input.indexOf(call, at + 1)) {
      if (++calls > MOST_CALLS) return new Set()
      const permit = readPermit(`0x${input.slice(at, at + LONGEST)}`)
      if (permit === undefined || permit.amountAtomic !== amountAtomic) continue
      if (
        isAddressEqual(permit.owner, from) &&
        isAddressEqual(permit.to, to) &&
        isAddressEqual(permit.token, token)
      )
        nonces.add(permit.nonce)
    }
  }
  return nonces
}

/**
 * How many such permits the proxy executed in a transaction. For each, its event comes right after
 * the token's transfer event.
 */
export function countCarried(authorization: Authorization, logs: readonly ChainLog[]): number {
  let last: (TokenMove & { asset: string }) | undefined
  let count = 0
  for (const log of logs) {
    const asset = checksumAddress(log.address)
    const [move] = readMoves([log], asset) ?? []
    if (move) last = { ...move, asset }
    if (asset !== checksumAddress(EXACT_PERMIT2_PROXY) || !EVENTS.includes(log.topics[0] ?? ''))
      continue
    if (last && isOf(authorization, last)) count++
    last = undefined
  }
  return count
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
