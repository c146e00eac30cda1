import { msg } from '@lingui/core/macro'
import { i18n } from '../locales/i18n.ts'
import type { UserError } from '../payment-intent/intent.ts'
import type { ErrorRow } from './row.ts'

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

/**
 * The table's part for a payment through a wallet; `{wallet}` in the words is its name. Only under
 * `look_first` may something have left.
 */
export const errorMessages: Readonly<Record<UserErrorName, ErrorRow>> = {
  rejected: {
    ...again,
    title: msg({ message: 'You cancelled in {wallet}' }),
    body: msg`Nothing was sent.`,
  },
  request_pending: {
    ...afterwards,
    title: msg({ message: 'Open {wallet}: a request is already waiting' }),
    body: msg`Answer or reject it there, then come back. Nothing was sent.`,
  },
  unknown_chain: {
    ...afterwards,
    title: msg({ message: '{wallet} does not have this network yet' }),
    body: msg({ message: 'Add the network in {wallet}, then sign again. Nothing was sent.' }),
  },
  wrong_chain: {
    ...afterwards,
    title: msg({ message: '{wallet} is on another network' }),
    body: msg({
      message: 'Switch {wallet} to the network of this payment, then sign again. Nothing was sent.',
    }),
  },
  add_chain_failed: {
    ...afterwards,
    title: msg({ message: 'The network could not be added to {wallet}' }),
    body: msg({ message: 'Add it in {wallet} by hand, then sign again. Nothing was sent.' }),
  },
  unauthorized: {
    ...connect,
    title: msg({ message: '{wallet} has not let this page use the account' }),
    body: msg({ message: 'Unlock {wallet} and connect the account again. Nothing was sent.' }),
  },
  disconnected: {
    ...connect,
    title: msg({ message: '{wallet} is disconnected' }),
    body: msg({ message: 'Open and unlock {wallet}, then sign again. Nothing was sent.' }),
  },
  unsupported: {
    who: 'you',
    action: 'change',
    retry: 'never',
    title: msg({ message: '{wallet} cannot do this' }),
    body: msg`Pay with another wallet. Nothing was sent.`,
  },
  insufficient_funds: {
    ...afterwards,
    title: msg`The account does not hold enough`,
    body: msg`It must cover the amount and the network fee. Nothing was sent.`,
  },
  refused_transaction: {
    ...again,
    title: msg({ message: '{wallet} refused the transaction' }),
    body: msg`Nothing was sent. Prepare it again, or pay with another wallet.`,
  },
  blockhash_expired: {
    ...later,
    title: msg`The transaction took too long`,
    body: msg`Nothing was sent. It can be prepared again in one tap.`,
  },
  blockhash_expired_sent: {
    who: 'time',
    action: 'wait',
    retry: 'look_first',
    title: msg`Checking whether it landed`,
    body: msg`The transaction expires soon. No new one is prepared until the chain shows that it cannot be executed.`,
  },
  rpc_down: {
    who: 'network',
    action: 'wait',
    retry: 'look_first',
    title: msg`The network does not answer`,
    body: msg`Your connection to the chain is down. It is tried again by itself.`,
  },
  timeout: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    title: msg({ message: '{wallet} did not answer' }),
    body: msg({
      message:
        'It may still send the payment. Look into {wallet}; this page keeps checking the chain.',
    }),
  },
  unclear: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    title: msg({ message: '{wallet} gave an unclear answer' }),
    body: msg`The payment may have been sent. This page keeps checking the chain.`,
  },
  not_connected: {
    ...connect,
    title: msg({ message: '{wallet} is not connected' }),
    body: msg`Unlock it and connect the account again. Nothing was sent.`,
  },
  wallet_busy: {
    ...afterwards,
    title: msg({ message: '{wallet} is asking in another tab' }),
    body: msg`Answer or reject the request there, then sign here. Nothing was sent.`,
  },
  wallet_lost: {
    ...again,
    title: msg`The signature never arrived`,
    body: msg`Nothing was sent. You can sign again.`,
  },
  rpc_silent: {
    who: 'network',
    action: 'prepare_again',
    retry: 'safe',
    title: msg`Your connection to the network does not answer`,
    body: msg`Nothing was built and nothing was sent. Try again, or choose another network.`,
  },
  chain_busy: {
    ...later,
    title: msg`The network asks very high fees now`,
    body: msg`They are higher than this page lets anybody pay. Nothing was sent; try again later.`,
  },
  payee_refuses: {
    who: 'payer',
    action: 'change',
    retry: 'after_change',
    title: msg`The payee cannot take this payment`,
    body: msg`It is a contract, and your node says that it would refuse the money. Nothing was sent.`,
  },
  payee_without_account: {
    who: 'payer',
    action: 'change',
    retry: 'after_change',
    title: msg`The payee has no account for this token`,
    body: msg`The fee payer does not open an account for the payee. Tell the seller, or pay in another way. Nothing was sent.`,
  },
  already_settled: {
    who: 'you',
    action: 'none',
    retry: 'never',
    title: msg`There is nothing left to collect`,
    body: msg`This payment has been settled already. Nothing was sent. Check it again to see it on the chain.`,
  },
  not_settled_yet: {
    ...later,
    title: msg`There is nothing to acknowledge yet`,
    body: msg`The service does not have this payment. Nothing was sent. Settle it first.`,
  },
  other_payment: {
    who: 'operator',
    action: 'change',
    retry: 'never',
    title: msg`The server answered with another payment`,
    body: msg`It is not what you entered. Nothing was signed and nothing was sent.`,
  },
  not_signed: { ...again, title: msg`Not signed`, body: msg`Nothing was sent.` },
}

/** `walletName`: for texts that name the wallet. `detail`: the line to quote in a report. */
export function describeUserError(
  name: UserErrorName,
  walletName = '',
  detail?: string,
): UserError {
  const { title, body } = errorMessages[name]
  const values = { wallet: walletName }
  return {
    code: name.toUpperCase(),
    title: i18n._({ ...title, values }),
    body: i18n._({ ...body, values }),
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
