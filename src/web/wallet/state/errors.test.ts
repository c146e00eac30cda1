import { describe, expect, test } from 'vitest'
import { describeUserError, isNothingSent, type WalletSignal } from '../../errors/error-messages.ts'
import { WalletTimeoutError } from './bounded.ts'
import { signalOf, WalletError } from './errors.ts'

const rows: readonly [string, unknown, WalletSignal, boolean][] = [
  ['4001', { code: 4001, message: 'User rejected the request.' }, 'rejected', true],
  ['4001 inside a cause', new Error('An error', { cause: { code: 4001 } }), 'rejected', true],
  ['a Solana wallet’s own words', new Error('User rejected the request.'), 'rejected', true],
  [
    'a closed wallet window',
    Object.assign(new Error(''), { name: 'WalletWindowClosedError' }),
    'rejected',
    true,
  ],
  [
    '-32002',
    { code: -32002, message: 'Request of type wallet_requestPermissions already pending' },
    'request_pending',
    true,
  ],
  [
    '-32002 under a wrapper of its name',
    Object.assign(new Error('Resource not available.'), {
      code: -32002,
      cause: { code: -32002, message: 'Already processing eth_requestAccounts. Please wait.' },
    }),
    'request_pending',
    true,
  ],
  ['-32002 of a node', { code: -32002, message: 'request timed out' }, 'rpc_down', false],
  [
    '-32002 of a node, passed on',
    {
      code: -32603,
      message: 'A request is already pending.',
      data: { code: -32002, message: 'request timed out' },
    },
    'rpc_down',
    false,
  ],
  ['-32002 without a reason', { code: -32002 }, 'unclear', false],
  ['4902', { code: 4902, message: 'Unrecognized chain ID' }, 'unknown_chain', true],
  [
    '4902 under -32603',
    { code: -32603, message: 'Internal', data: { originalError: { code: 4902 } } },
    'unknown_chain',
    true,
  ],
  ['4100', { code: 4100 }, 'unauthorized', true],
  ['4200', { code: 4200 }, 'unsupported', true],
  ['4900', { code: 4900 }, 'disconnected', true],
  ['4901', { code: 4901 }, 'wrong_chain', true],
  ['-32602', { code: -32602 }, 'refused_transaction', true],
  [
    'too little money',
    { code: -32000, message: 'insufficient funds for gas * price + value' },
    'insufficient_funds',
    true,
  ],
  ['an expired blockhash, unsent', new Error('Blockhash not found'), 'blockhash_expired', true],
  [
    'an expired blockhash, sent',
    new WalletError('blockhash_expired_sent', 'W'),
    'blockhash_expired_sent',
    false,
  ],
  ['an RPC that is down', new TypeError('Failed to fetch'), 'rpc_down', false],
  ['a wrong chain', new WalletError('wrong_chain', 'W'), 'wrong_chain', true],
  [
    'a chain that could not be added',
    new WalletError('add_chain_failed', 'W'),
    'add_chain_failed',
    true,
  ],
  ['a call that never settles', new WalletTimeoutError('late'), 'timeout', false],
  [
    '-32603 without a reason',
    { code: -32603, message: 'Internal JSON-RPC error.' },
    'unclear',
    false,
  ],
  ['nothing at all', undefined, 'unclear', false],
]

describe('every wallet signal has its meaning', () => {
  test.each(rows)('%s', (_, error, signal, nothingSent) => {
    expect(signalOf(error)).toBe(signal)
    expect(isNothingSent(signal)).toBe(nothingSent)
  })
})

test('words name the wallet and say that nothing was sent only where that is certain', () => {
  expect(describeUserError('rejected', 'Phantom')).toEqual({
    code: 'REJECTED',
    title: 'Cancelled in Phantom',
    body: 'Nothing was sent.',
  })
  for (const [, , signal, nothingSent] of rows) {
    const { title, body } = describeUserError(signal, 'Phantom')
    expect(`${title} ${body}`).not.toContain('{wallet}')
    expect(body.includes('Nothing was sent')).toBe(nothingSent)
  }
})
