import { msg } from '@lingui/core/macro'
import { i18n } from '../locales/i18n.ts'
import type { UserError } from '../payment-intent/intent.ts'
import { formatBody, type ErrorRow } from './row.ts'

/** Why wallets and RPC endpoints did not do what was asked. */
export type WalletSignal =
  | 'rejected'
  | 'request_pending'
  | 'unknown_chain'
  | 'wrong_chain'
  | 'add_chain_failed'
  | 'unauthorized'
  | 'disconnected'
  | 'unsupported'
  | 'insufficient_funds'
  | 'refused_transaction'
  | 'blockhash_expired'
  | 'blockhash_expired_sent'
  | 'rpc_down'
  | 'timeout'
  | 'unclear'

/** What this page detects by itself before anything can have left. */
type OwnUserError =
  | 'not_connected'
  | 'wallet_busy'
  | 'wallet_lost'
  | 'rpc_silent'
  | 'chain_busy'
  | 'payee_refuses'
  | 'payee_without_account'
  | 'already_settled'
  | 'not_settled_yet'
  | 'other_payment'
  | 'not_signed'

export type UserErrorName = WalletSignal | OwnUserError

const again = { who: 'you', action: 'sign_again', retry: 'safe' } as const
const afterwards = { who: 'you', action: 'sign_again', retry: 'after_change' } as const
const connect = { who: 'you', action: 'connect', retry: 'after_change' } as const
const later = { who: 'time', action: 'prepare_again', retry: 'safe' } as const

const noNetwork = {
  ...afterwards,
  title: msg({ message: '{wallet} lacks this network' }),
  unsent: true,
  body: msg({ message: 'Add it in {wallet}.' }),
} as const
const disconnected = {
  ...connect,
  title: msg({ message: '{wallet} is disconnected' }),
  unsent: true,
  body: msg`Unlock and reconnect.`,
} as const

/**
 * The table's part for a payment through a wallet; `{wallet}` in the words is its name. Only under
 * `look_first` may something have left.
 */
export const errorMessages: Readonly<Record<UserErrorName, ErrorRow>> = {
  rejected: {
    ...again,
    title: msg({ message: 'Cancelled in {wallet}' }),
    body: msg`Nothing was sent.`,
  },
  request_pending: {
    ...afterwards,
    title: msg({ message: '{wallet} has a pending request' }),
    unsent: true,
    body: msg`Answer it, then try again.`,
  },
  unknown_chain: noNetwork,
  wrong_chain: {
    ...afterwards,
    title: msg({ message: '{wallet} is on another network' }),
    unsent: true,
    body: msg`Switch the network.`,
  },
  add_chain_failed: noNetwork,
  unauthorized: {
    ...connect,
    title: msg({ message: '{wallet} did not share the account' }),
    unsent: true,
    body: msg`Unlock and reconnect.`,
  },
  disconnected,
  unsupported: {
    who: 'you',
    action: 'change',
    retry: 'never',
    title: msg({ message: '{wallet} cannot do this' }),
    unsent: true,
    body: msg`Pay with another wallet.`,
  },
  insufficient_funds: {
    ...afterwards,
    title: msg`Balance too low`,
    unsent: true,
    body: msg`Add funds.`,
  },
  refused_transaction: {
    ...again,
    title: msg({ message: '{wallet} refused the transaction' }),
    unsent: true,
    body: msg`Prepare it again.`,
  },
  blockhash_expired: {
    ...later,
    title: msg`Signing time expired`,
    unsent: true,
    body: msg`Prepare it again.`,
  },
  blockhash_expired_sent: {
    who: 'time',
    action: 'wait',
    retry: 'look_first',
    title: msg`Checking the chain`,
    body: msg`Waiting until the transaction expires.`,
  },
  rpc_down: {
    who: 'network',
    action: 'wait',
    retry: 'look_first',
    title: msg`Network unreachable`,
    body: msg`Trying again automatically.`,
  },
  timeout: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    title: msg({ message: '{wallet} did not answer' }),
    body: msg`The payment may have been sent. Check your wallet.`,
  },
  unclear: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    title: msg({ message: 'Unclear answer' }),
    body: msg`The payment may have been sent. Check your wallet.`,
  },
  not_connected: disconnected,
  wallet_busy: {
    ...afterwards,
    title: msg({ message: '{wallet} is busy in another tab' }),
    unsent: true,
    body: msg`Answer it, then try again.`,
  },
  wallet_lost: {
    ...again,
    title: msg`Signature missing`,
    unsent: true,
    body: msg`Sign again.`,
  },
  rpc_silent: {
    who: 'network',
    action: 'prepare_again',
    retry: 'safe',
    title: msg`RPC endpoint does not answer`,
    unsent: true,
    body: msg`Try again later.`,
  },
  chain_busy: {
    ...later,
    title: msg`Network fees are too high`,
    unsent: true,
    body: msg`Try again later.`,
  },
  payee_refuses: {
    who: 'payer',
    action: 'change',
    retry: 'after_change',
    title: msg`Recipient rejects this payment`,
    unsent: true,
    body: msg`Ask for another address.`,
  },
  payee_without_account: {
    who: 'payer',
    action: 'change',
    retry: 'after_change',
    title: msg`Recipient’s token account missing`,
    unsent: true,
    body: msg`Create this account.`,
  },
  already_settled: {
    who: 'you',
    action: 'none',
    retry: 'never',
    title: msg`Already settled`,
    unsent: true,
    body: msg`Check the payment again.`,
  },
  not_settled_yet: {
    ...later,
    title: msg`Not settled yet`,
    unsent: true,
    body: msg`Settle it first.`,
  },
  other_payment: {
    who: 'operator',
    action: 'change',
    retry: 'never',
    title: msg`Wrong payment returned`,
    unsent: true,
    body: msg`Do not pay. Tell the merchant.`,
  },
  not_signed: { ...again, title: msg`Not signed`, body: msg`Nothing was sent.` },
}

/** `walletName`: for texts that name the wallet. `detail`: the line to quote in a report. */
export function describeUserError(
  name: UserErrorName,
  walletName = '',
  detail?: string,
): UserError {
  const row = errorMessages[name]
  const values = { wallet: walletName }
  return {
    code: name.toUpperCase(),
    title: i18n._({ ...row.title, values }),
    body: formatBody(row, values),
    ...(detail && { detail }),
  }
}

/**
 * The same for a wallet that was not asked to send yet, or asked only for a signature: after any
 * error, no byte has left.
 */
export function describeUnsigned(signal: WalletSignal, walletName: string): UserError {
  const userError = describeUserError(signal, walletName)
  return isNothingSent(signal)
    ? userError
    : { ...userError, body: describeUserError('wallet_lost').body }
}

/** Whether it is certain that the wallet sent nothing. */
export function isNothingSent(signal: WalletSignal): boolean {
  return errorMessages[signal].retry !== 'look_first'
}

/**
 * The action for a payment's trouble; for codes outside this table, nothing beyond what the page
 * offers anyway.
 */
export function actionFor(code: string): ErrorRow['action'] | undefined {
  return isUserErrorName(code.toLowerCase())
    ? errorMessages[code.toLowerCase() as UserErrorName].action
    : undefined
}

function isUserErrorName(name: string): name is UserErrorName {
  return Object.hasOwn(errorMessages, name)
}
