import { bytesToHex, hexToBytes, type Hex } from 'viem'
import {
  authorizationTypedData,
  decodeAuthorization,
  describeAuthorization,
  encodeAuthorization,
  matchAuthorization,
  signerOf,
} from '#chains/evm/token-authorization.ts'
import { chainIdOf, type Network } from '#contract/network.ts'
import type { PaymentOrder as Terms } from '#x402/client/order.ts'
import { serverNow } from '../../../clock.ts'
import type { PaymentOrder } from '../../../payment/order.ts'
import type { PaymentChain, PaymentService, PaymentWallet, TransactionReader } from '../../../payment/ports.ts'
import { describeTrouble, describeUnsigned } from '../../../payment/trouble-words.ts'
import { signalOf } from '../../../wallet/errors.ts'
import { intentOf } from '../../../wallet/intent.ts'
import type { WalletStack } from '../../../wallet/stack.ts'
import { explainHere } from './build-here.ts'

/** A token payment that the payer signs as a message and the seller sends: through the same machine as every other payment. */

/** Clocks differ, and a block's time is earlier than now. */
const EARLIER_S = 600
/** What the seller needs after the signature. */
const LEFT_FOR_SELLER_MS = 20_000
/** The seller's wish is kept within this, however long it would like to hold a signature. */
const MOST_S = 3_600

/** How long the signature is good for. */
function validS({ maxTimeoutSeconds }: Terms): number {
  return Math.min(maxTimeoutSeconds, MOST_S)
}

export function authorizationService(network: Network, terms: Terms, head: PaymentChain['head']): PaymentService {
  return {
    build: async (order) => {
      const { height } = await head(order)
      const now = Math.floor(serverNow() / 1000)
      const valid = validS(terms)
      const bytes = encodeAuthorization({
        domain: {
          name: textOf(terms, 'name'),
          version: textOf(terms, 'version'),
          chainId: chainIdOf(network.network),
          verifyingContract: order.asset.address as Hex,
        },
        message: {
          from: order.sender as Hex,
          to: order.recipient as Hex,
          value: order.amountAtomic,
          validAfter: BigInt(now - EARLIER_S),
          validBefore: BigInt(now + valid),
          nonce: bytesToHex(crypto.getRandomValues(new Uint8Array(32))),
        },
      })
      const blocks = Math.ceil((valid * 1000) / network.blockTimeMs)
      return {
        paymentId: order.id,
        bytes,
        lastValidBlockHeight: height + blocks,
        expiresAt: (now + valid) * 1000 - Math.min(LEFT_FOR_SELLER_MS, (valid * 1000) / 3),
      }
    },
    report: () => Promise.resolve(),
    explain: explainHere,
  }
}

function textOf(terms: Terms, name: string): string {
  const value = terms.extra[name]
  return typeof value === 'string' ? value : ''
}

export function authorizationReader(terms: Terms): TransactionReader {
  // Read at each comparison: what is shown is good for no longer than from now.
  const latest = () => BigInt(Math.floor(serverNow() / 1000) + validS(terms))
  return {
    match: (order, attempt, bytes) => matchAuthorization(intentOf(order, attempt), bytes, latest()),
    describe: (order, bytes) => describeAuthorization(bytes, order.asset),
    nonce: () => null,
    compareSigned: (order, built, signed) => {
      const decoded = decodeAuthorization(built.bytes)
      if (!decoded.ok) return { ok: false, difference: decoded.problem }
      const signer = signerOf(decoded.authorization, signed)
      if (signer !== order.sender)
        return { ok: false, difference: `the signature is ${signer ? `one of ${signer}` : 'nobody’s'} instead of one of ${order.sender}.` }
      return { ok: true, signature: decoded.authorization.message.nonce }
    },
  }
}

/** Asks for a message's signature. Nothing leaves the browser by it, so every failure is a refusal. */
export function authorizationWallet(network: Network, stack: WalletStack): PaymentWallet {
  return {
    signer: (order: PaymentOrder) => stack.wallet.signer(order),
    pay: async (order, built) => {
      const decoded = decodeAuthorization(built.bytes)
      if (!decoded.ok) return { kind: 'refused', trouble: describeTrouble('refused_transaction', order.walletName) }
      try {
        const account = { address: order.sender, walletName: order.walletName }
        const signature = await stack.signTypedData(network, account, authorizationTypedData(decoded.authorization))
        return { kind: 'signed', bytes: hexToBytes(signature as Hex) }
      } catch (error) {
        const signal = signalOf(error)
        if (signal === 'unauthorized') return { kind: 'signer_changed' }
        return { kind: 'refused', trouble: describeUnsigned(signal, order.walletName) }
      }
    },
  }
}
