import { t } from '@lingui/core/macro'
import type { Guidance } from '../api/guidance.ts'
import type { Trouble } from './order.ts'

/** What wallets and RPCs say when they do not do what was asked. */
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

/** What this page finds by itself before anything can have left. */
type OwnTrouble =
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

export type TroubleName = WalletSignal | OwnTrouble

type Words = { title: string; body: string }
type Row = Guidance & { words: (wallet: string) => Words }

/** Every trouble of a payment, in the reader's words. `look_first` is the one policy under which something may have left. */
export const troubles: Readonly<Record<TroubleName, Row>> = {
  rejected: {
    who: 'you',
    action: 'sign_again',
    retry: 'safe',
    words: (wallet) => ({ title: t`You cancelled in ${wallet}.`, body: t`Nothing was sent.` }),
  },
  request_pending: {
    who: 'you',
    action: 'sign_again',
    retry: 'after_change',
    words: (wallet) => ({
      title: t`Open ${wallet}: a request is already waiting.`,
      body: t`Answer or reject it there, then come back. Nothing was sent.`,
    }),
  },
  unknown_chain: {
    who: 'you',
    action: 'sign_again',
    retry: 'after_change',
    words: (wallet) => ({
      title: t`${wallet} does not have this network yet.`,
      body: t`Add the network in ${wallet}, then sign again. Nothing was sent.`,
    }),
  },
  wrong_chain: {
    who: 'you',
    action: 'sign_again',
    retry: 'after_change',
    words: (wallet) => ({
      title: t`${wallet} is on another network.`,
      body: t`Switch ${wallet} to the network of this payment, then sign again. Nothing was sent.`,
    }),
  },
  add_chain_failed: {
    who: 'you',
    action: 'sign_again',
    retry: 'after_change',
    words: (wallet) => ({
      title: t`The network could not be added to ${wallet}.`,
      body: t`Add it in ${wallet} by hand, then sign again. Nothing was sent.`,
    }),
  },
  unauthorized: {
    who: 'you',
    action: 'connect',
    retry: 'after_change',
    words: (wallet) => ({
      title: t`${wallet} has not let this page use the account.`,
      body: t`Unlock ${wallet} and connect the account again. Nothing was sent.`,
    }),
  },
  disconnected: {
    who: 'you',
    action: 'connect',
    retry: 'after_change',
    words: (wallet) => ({ title: t`${wallet} is disconnected.`, body: t`Open and unlock ${wallet}, then sign again. Nothing was sent.` }),
  },
  unsupported: {
    who: 'you',
    action: 'change',
    retry: 'never',
    words: (wallet) => ({ title: t`${wallet} cannot do this.`, body: t`Pay with another wallet. Nothing was sent.` }),
  },
  insufficient_funds: {
    who: 'you',
    action: 'sign_again',
    retry: 'after_change',
    words: () => ({ title: t`The account does not hold enough.`, body: t`It must cover the amount and the network fee. Nothing was sent.` }),
  },
  refused_transaction: {
    who: 'you',
    action: 'sign_again',
    retry: 'safe',
    words: (wallet) => ({
      title: t`${wallet} refused the transaction.`,
      body: t`Nothing was sent. Prepare it again, or pay with another wallet.`,
    }),
  },
  blockhash_expired: {
    who: 'time',
    action: 'prepare_again',
    retry: 'safe',
    words: () => ({ title: t`The transaction took too long.`, body: t`Nothing was sent. It can be prepared again in one tap.` }),
  },
  blockhash_expired_sent: {
    who: 'time',
    action: 'wait',
    retry: 'look_first',
    words: () => ({
      title: t`Checking whether it landed.`,
      body: t`The time to land is nearly over. Nothing is prepared anew until the chain shows that it cannot land.`,
    }),
  },
  rpc_down: {
    who: 'network',
    action: 'wait',
    retry: 'look_first',
    words: () => ({ title: t`The network does not answer.`, body: t`Your connection to the chain is down. It is tried again by itself.` }),
  },
  timeout: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    words: (wallet) => ({
      title: t`${wallet} did not answer.`,
      body: t`It may still send the payment. Look into ${wallet}; this page keeps checking the chain.`,
    }),
  },
  unclear: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    words: (wallet) => ({
      title: t`${wallet} gave an unclear answer.`,
      body: t`The payment may have been sent. This page keeps checking the chain.`,
    }),
  },
  not_connected: {
    who: 'you',
    action: 'connect',
    retry: 'after_change',
    words: (wallet) => ({ title: t`${wallet} is not connected.`, body: t`Unlock it and connect the account again. Nothing was sent.` }),
  },
  wallet_busy: {
    who: 'you',
    action: 'sign_again',
    retry: 'after_change',
    words: (wallet) => ({
      title: t`${wallet} is asking in another tab.`,
      body: t`Answer or reject the request there, then sign here. Nothing was sent.`,
    }),
  },
  wallet_lost: {
    who: 'you',
    action: 'sign_again',
    retry: 'safe',
    words: () => ({ title: t`The signature never arrived.`, body: t`Nothing was sent. You can sign again.` }),
  },
  rpc_silent: {
    who: 'network',
    action: 'prepare_again',
    retry: 'safe',
    words: () => ({
      title: t`Your connection to the network does not answer`,
      body: t`Nothing was built and nothing was sent. Try again, or choose another network.`,
    }),
  },
  chain_busy: {
    who: 'time',
    action: 'prepare_again',
    retry: 'safe',
    words: () => ({
      title: t`The network asks very high fees now`,
      body: t`More than this page pays for anybody. Nothing was sent; try again later.`,
    }),
  },
  payee_refuses: {
    who: 'payer',
    action: 'change',
    retry: 'after_change',
    words: () => ({
      title: t`The payee cannot take this payment`,
      body: t`It is a contract, and your node says that it would refuse the money. Nothing was sent.`,
    }),
  },
  payee_without_account: {
    who: 'payer',
    action: 'change',
    retry: 'after_change',
    words: () => ({
      title: t`The payee has no account for this token`,
      body: t`Who pays the network for you opens none for the payee. Tell the seller, or pay in another way. Nothing was sent.`,
    }),
  },
  already_settled: {
    who: 'you',
    action: 'none',
    retry: 'never',
    words: () => ({
      title: t`There is nothing left to collect`,
      body: t`This payment has been settled already. Nothing was sent. Check it again to see it on the chain.`,
    }),
  },
  not_settled_yet: {
    who: 'time',
    action: 'prepare_again',
    retry: 'safe',
    words: () => ({
      title: t`There is nothing to acknowledge yet`,
      body: t`The service does not have this payment. Nothing was sent. Settle it first.`,
    }),
  },
  other_payment: {
    who: 'operator',
    action: 'change',
    retry: 'never',
    words: () => ({
      title: t`The desk answered with another payment`,
      body: t`It is not what you entered. Nothing was signed and nothing was sent.`,
    }),
  },
  not_signed: { who: 'you', action: 'sign_again', retry: 'safe', words: () => ({ title: t`Not signed`, body: t`Nothing was sent.` }) },
}

/** `walletName` where the words name the wallet. `detail`: the line to quote in a report. */
export function describeTrouble(name: TroubleName, walletName = '', detail?: string): Trouble {
  return { code: name.toUpperCase(), ...troubles[name].words(walletName), ...(detail && { detail }) }
}

/** The same of a wallet that was not asked to send yet, or asked for nothing but a signature: whatever went wrong, no byte has left. */
export function describeUnsigned(signal: WalletSignal, walletName: string): Trouble {
  const trouble = describeTrouble(signal, walletName)
  return isNothingSent(signal) ? trouble : { ...trouble, body: troubles.wallet_lost.words(walletName).body }
}

/** Whether it is certain that the wallet passed nothing on. */
export function isNothingSent(signal: WalletSignal): boolean {
  return troubles[signal].retry !== 'look_first'
}

/** What to offer for a trouble that a payment holds; of codes that are not of this table, nothing more than the page offers anyway. */
export function actionFor(code: string): Guidance['action'] | undefined {
  return isTroubleName(code.toLowerCase()) ? troubles[code.toLowerCase() as TroubleName].action : undefined
}

function isTroubleName(name: string): name is TroubleName {
  return Object.hasOwn(troubles, name)
}
