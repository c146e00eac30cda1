import { encodeAbiParameters, encodeEventTopics, erc20Abi, type Hex, type Log } from 'viem'
import { expect, test } from 'vitest'
import { authorizationAbi } from '#chains/evm/authorization.ts'
import { checksumAddress } from '#contract/address.ts'
import { readTokenMoves } from './observe.ts'

const at = (digit: string) => checksumAddress(`0x${digit.repeat(40)}`) as Hex
const [token, otherToken, payer, otherPayer, payee] = ['1', '2', '3', '4', '5'].map(at) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
]
const nonce = (digit: string): Hex => `0x${digit.repeat(64)}`

function log(address: Hex, topics: unknown, data: Hex = '0x'): Log {
  return {
    address,
    topics: topics as Log['topics'],
    data,
    blockHash: nonce('0'),
    blockNumber: 1n,
    logIndex: 0,
    transactionHash: nonce('0'),
    transactionIndex: 0,
    removed: false,
  }
}
const used = (digit: string, authorizer = payer, address = token) =>
  log(
    address,
    encodeEventTopics({
      abi: authorizationAbi,
      eventName: 'AuthorizationUsed',
      args: { authorizer, nonce: nonce(digit) },
    }),
  )
const move = (to: Hex, value = 7n, address = token) =>
  log(
    address,
    encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from: payer, to } }),
    encodeAbiParameters([{ type: 'uint256' }], [value]),
  )

test.each<[string, Log[], (Hex | undefined)[]]>([
  [
    'a use before each transfer',
    [used('a'), move(payee), used('b'), move(payee)],
    ['a', 'b'].map(nonce),
  ],
  [
    'a use after each transfer',
    [move(payee), used('a'), move(payee), used('b')],
    ['b', 'a'].map(nonce),
  ],
  ['a use of another payer', [used('a', otherPayer), move(payee)], [undefined]],
  ['a use of another token', [used('a', payer, otherToken), move(payee)], [undefined]],
  ['a fee and the payment', [used('a'), move(otherPayer, 1n), move(payee)], ['a', 'a'].map(nonce)],
  ['no use', [move(payee)], [undefined]],
])('%s: each transfer belongs to the use that moved it', (_, logs, expected) => {
  expect(readTokenMoves(logs).map(({ authorization }) => authorization)).toEqual(expected)
})
