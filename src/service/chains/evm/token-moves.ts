import { erc20Abi, parseEventLogs, type Hex, type Log } from 'viem'
import { authorizationAbi } from '#chains/evm/authorization.ts'
import { checksumAddress } from '#contract/address.ts'
import type { ObservedTransfer } from '../chain.ts'

type Use = { authorizer: Hex; nonce: Hex }

/**
 * What the tokens of a transaction say they moved, and by which authorization. A token may say
 * anything: only what is said by the token that was asked for counts.
 */
export function readTokenMoves(logs: readonly Log[]): ObservedTransfer[] {
  const events = parseEventLogs({
    abi: [...erc20Abi, ...authorizationAbi],
    eventName: ['Transfer', 'AuthorizationUsed'],
    logs: [...logs],
    strict: true,
  })
  return [...Map.groupBy(events, ({ address }) => checksumAddress(address))].flatMap(
    ([asset, ofToken]) => {
      // EIP-3009 writes the use before the transfer. A token that ends with a use writes it after.
      const usesFirst = ofToken.at(-1)?.eventName === 'Transfer'
      const moves: ObservedTransfer[] = []
      let use: Use | undefined
      for (const event of usesFirst ? ofToken : ofToken.toReversed()) {
        if (event.eventName === 'AuthorizationUsed') use = event.args
        else moves.push(readMove(asset, event.args, use))
      }
      return moves
    },
  )
}

/** A transfer belongs to one use at most, so no transfer ever counts for two authorizations. */
function readMove(
  asset: string,
  { from, to, value }: { from: Hex; to: Hex; value: bigint },
  use: Use | undefined,
): ObservedTransfer {
  const sender = checksumAddress(from)
  const isAuthorized = use !== undefined && checksumAddress(use.authorizer) === sender
  return {
    sender,
    recipient: checksumAddress(to),
    asset,
    amountAtomic: value,
    memo: null,
    nonce: null,
    ...(isAuthorized && { authorization: use.nonce }),
  }
}
