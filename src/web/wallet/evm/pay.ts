import * as v from 'valibot'
import {
  numberToHex,
  type EIP1193Provider,
  type Hex,
  getTypesForEIP712Domain,
  serializeTypedData,
  type TypedDataDomain,
} from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { checksumAddress } from '#contract/address.ts'
import type { Network } from '#contract/network.ts'
import {
  describeUserError,
  describeUnsigned,
  isNothingSent,
  type WalletSignal,
} from '../../errors/error-messages.ts'
import type {
  CheckedTransaction,
  UserError,
  WalletPaymentIntent,
} from '../../payment-intent/intent.ts'
import type { WalletResponse } from '../../payment-intent/ports.ts'
import { bounded } from '../state/bounded.ts'
import { signalOf, walletProblem, WalletError } from '../state/errors.ts'
import type { TypedData } from '../state/wallet-adapter.ts'
import { switchChain } from './switch-chain.ts'

/** A wallet that has not answered by then is treated as one that may have sent. */
const SEND_WITHIN_MS = 5 * 60_000
const READ_WITHIN_MS = 10_000
/** The payer waits for it after the click: a wallet that takes longer declares nothing. */
const CAPABILITIES_WITHIN_MS = 1_000
/** Said before the request these mean that nothing was sent; as its answer they break off an approval that may have been given already. */
const BROKEN_OFF: ReadonlySet<WalletSignal> = new Set(['disconnected', 'wrong_chain'])
const HASH = /^0x[0-9a-f]{64}$/i

/** The wallet's accounts as it tells them now, first the one it would sign with. Never opens a window. */
export async function readAccounts(provider: EIP1193Provider): Promise<string[]> {
  const accounts = await bounded(provider.request({ method: 'eth_accounts' }), READ_WITHIN_MS)
  return accounts.map((account) => checksumAddress(account))
}

/** Which of the wallet's accounts is meant: the one that was chosen here, or its first. */
type PickAccount = (accounts: readonly string[]) => string | undefined

/** Brings the wallet to a network before a transaction for it is built: the time to sign is not spent on adding a network. */
export async function prepareProvider(
  provider: EIP1193Provider,
  network: Network,
  walletName: string,
): Promise<UserError | null> {
  try {
    await switchChain(provider, network, walletName)
    return null
  } catch (error) {
    return describeUnsigned(signalOf(error), walletName)
  }
}

/**
 * Whether the wallet declares the capability `exactNonce` (EIP-5792): it sends with the nonce that it
 * is asked with. Without it a wallet may choose the nonce, as MetaMask on phones does. Never throws.
 */
export async function declaresExactNonce(
  provider: EIP1193Provider,
  chainId: Hex,
  address: string,
): Promise<boolean> {
  const request = { method: 'wallet_getCapabilities', params: [address, [chainId]] }
  const capabilities: unknown = await bounded(
    provider.request(request as never),
    CAPABILITIES_WITHIN_MS,
  ).catch(() => undefined)
  const exactNonce = v.object({ exactNonce: v.object({ supported: v.literal(true) }) })
  return v.is(v.object({ [chainId]: exactNonce }), capabilities)
}

/**
 * Has the wallet sign and send a payment. The fields it is asked with are read from the reviewed bytes, in this browser.
 * Before the request goes out every failure is `refused`; after it, only what is certain to have sent nothing.
 */
export async function payWithProvider(
  provider: EIP1193Provider,
  network: Network,
  payment: { order: WalletPaymentIntent; built: CheckedTransaction; pick: PickAccount },
): Promise<WalletResponse> {
  const { order, built, pick } = payment
  const decoded = decodeTransaction(built.bytes)
  if (!decoded.ok || decoded.form !== 'unsigned') return refused('refused_transaction', order)
  try {
    await switchChain(provider, network, order.walletName)
    // Switching may have taken a minute, and people switch accounts while they are at it.
    if (pick(await readAccounts(provider)) !== order.sender) return { kind: 'signer_changed' }
  } catch (error) {
    return { kind: 'refused', userError: describeUnsigned(signalOf(error), order.walletName) }
  }
  try {
    const hash: unknown = await bounded(
      provider.request({
        method: 'eth_sendTransaction',
        params: [
          {
            from: decoded.sender ?? (order.sender as `0x${string}`),
            to: decoded.to as `0x${string}`,
            value: numberToHex(decoded.valueAtomic),
            ...(decoded.data !== '0x' && { data: decoded.data }),
            gas: numberToHex(decoded.gas),
            maxFeePerGas: numberToHex(decoded.maxFeePerGas),
            maxPriorityFeePerGas: numberToHex(decoded.maxPriorityFeePerGas),
            nonce: numberToHex(decoded.nonce),
            chainId: numberToHex(decoded.chainId),
            type: '0x2',
          },
        ],
      } as never),
      SEND_WITHIN_MS,
    )
    return typeof hash === 'string' && HASH.test(hash)
      ? { kind: 'sent', signature: hash.toLowerCase() }
      : { kind: 'lost' }
  } catch (error) {
    const signal = signalOf(error)
    return isNothingSent(signal) && !BROKEN_OFF.has(signal)
      ? refused(signal, order)
      : { kind: 'lost' }
  }
}

function refused(signal: WalletSignal, order: WalletPaymentIntent): WalletResponse {
  return { kind: 'refused', userError: describeUserError(signal, order.walletName) }
}

const SIGN_WITHIN_MS = 5 * 60_000
const SIGNATURE = /^0x[0-9a-f]{130}$/i

/** Some hardware wallets end a signature in 0 or 1. Token contracts take 27 and 28 alone. */
function asTokensReadIt(signature: string): Hex {
  const last = signature.slice(-2)
  const v = last === '00' ? '1b' : last === '01' ? '1c' : last
  return `0x${signature.slice(2, -2)}${v}`
}

/**
 * Asks the wallet for an account's signature over typed data. Wallets refuse a domain of another
 * chain than their current one.
 * @throws WalletError; after any error, nothing was sent
 */
export async function signTypedData(
  provider: EIP1193Provider,
  network: Network,
  {
    address,
    walletName,
    data,
    pick,
  }: { address: string; walletName: string; data: TypedData; pick: PickAccount },
): Promise<`0x${string}`> {
  await switchChain(provider, network, walletName)
  if (pick(await readAccounts(provider)) !== address)
    throw new WalletError('unauthorized', walletName)
  const domain = data.domain as TypedDataDomain
  const types = { ...data.types, EIP712Domain: getTypesForEIP712Domain({ domain }) }
  const text = serializeTypedData<Record<string, unknown>, string>({
    domain,
    types,
    primaryType: data.primaryType,
    message: data.message,
  })
  try {
    const signature: unknown = await bounded(
      provider.request({
        method: 'eth_signTypedData_v4',
        params: [address as `0x${string}`, text],
      }),
      SIGN_WITHIN_MS,
    )
    if (typeof signature === 'string' && SIGNATURE.test(signature))
      return asTokensReadIt(signature.toLowerCase())
  } catch (error) {
    throw walletProblem(error, walletName)
  }
  // A contract wallet returns more than a key's signature, which these proofs cannot carry.
  throw new WalletError('unsupported', walletName)
}
