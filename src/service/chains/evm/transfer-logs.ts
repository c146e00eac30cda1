import { erc20Abi, parseEventLogs, type Log } from 'viem'
import { checksumAddress } from '#contract/address.ts'
import type { ObservedTransfer } from '../chain.ts'

/** What the tokens of a transaction say they moved. A token may say anything: only what is said by the token that was asked for counts. */
export function readTransferLogs(logs: readonly Log[]): ObservedTransfer[] {
  return parseEventLogs({
    abi: erc20Abi,
    eventName: 'Transfer',
    logs: [...logs],
    strict: true,
  }).map(({ address, args }) => ({
    sender: checksumAddress(args.from),
    recipient: checksumAddress(args.to),
    asset: checksumAddress(address),
    amountAtomic: args.value,
    memo: null,
    nonce: null,
  }))
}
