import { t } from '@lingui/core/macro'
import { bytesToHex, hexToBytes, type Hex } from 'viem'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import {
  authorizationTypedData,
  decodeAuthorization,
  describeAuthorization,
  encodeAuthorization,
  matchAuthorization,
  signerOf,
} from '#chains/evm/token-authorization.ts'
import {
  decodePermit,
  describePermit,
  encodePermit,
  matchPermit,
  permitSignerOf,
  permitTypedData,
} from '#chains/evm/token-permit.ts'
import type { PaymentIntent, Match, Step } from '#chains/match.ts'
import { chainIdOf, type Asset, type Network } from '#contract/network.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import type { ClientPayment as Terms } from '#x402/client/order.ts'
import { serverNow } from '../../../api/clock.ts'
import type { WalletPaymentIntent } from '../../../payment-intent/intent.ts'
import type { Ports } from '../../../payment-flow/dependencies.ts'
import type {
  PaymentChain,
  PaymentService,
  PaymentWallet,
  TransactionReader,
} from '../../../payment-intent/ports.ts'
import { describeUserError, describeUnsigned } from '../../../errors/error-messages.ts'
import { signalOf } from '../../../wallet/state/errors.ts'
import { toPaymentIntent } from '../../../wallet/state/intent.ts'
import type { TypedData, WalletAdapter } from '../../../wallet/state/wallet-adapter.ts'
import { explainHere } from './build-here.ts'
import { messageChain } from '../../../payment-flow/message-chain.ts'

/** A token payment that the payer signs as a message and the seller sends: through the same machine as every other payment. */

/** Clocks differ, and a block's time is earlier than now. */
const EARLIER_S = 600
/** What the seller needs after the signature. */
const LEFT_FOR_SELLER_MS = 20_000
/** The seller's wish is kept within this, however long it would like to hold a signature. */
const MOST_S = 3_600

type Times = { validAfter: bigint; validBefore: bigint }

/** One of the two messages of tokens: how it is written, read, compared, and who signed it. */
type Kind = {
  write(network: Network, order: WalletPaymentIntent, times: Times): Uint8Array
  match(intent: PaymentIntent, bytes: Uint8Array, latest: bigint): Match
  describe(bytes: Uint8Array, asset: Asset): readonly Step[]
  typedData(bytes: Uint8Array): TypedData | undefined
  /** The account whose signature it is, and the name the payment goes by. */
  signed(bytes: Uint8Array, signature: Uint8Array): { signer: string | undefined; name: string }
}

const randomHex = () => bytesToHex(crypto.getRandomValues(new Uint8Array(32)))

function authorization(terms: Terms): Kind {
  return {
    write: (network, order, { validAfter, validBefore }) =>
      encodeAuthorization({
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
          validAfter,
          validBefore,
          nonce: randomHex(),
        },
      }),
    match: matchAuthorization,
    describe: describeAuthorization,
    typedData: (bytes) => {
      const decoded = decodeAuthorization(bytes)
      return decoded.ok ? authorizationTypedData(decoded.authorization) : undefined
    },
    signed: (bytes, signature) => {
      const decoded = decodeAuthorization(bytes)
      if (!decoded.ok) throw new TypeError(decoded.problem.code)
      return {
        signer: signerOf(decoded.authorization, signature),
        name: decoded.authorization.message.nonce,
      }
    },
  }
}

const permit: Kind = {
  write: (network, order, { validAfter, validBefore }) =>
    encodePermit({
      chainId: chainIdOf(network.network),
      verifyingContract: PERMIT2,
      from: order.sender as Hex,
      token: order.asset.address as Hex,
      amount: order.amountAtomic,
      spender: EXACT_PERMIT2_PROXY,
      nonce: BigInt(randomHex()),
      validAfter,
      deadline: validBefore,
      to: order.recipient as Hex,
    }),
  match: matchPermit,
  describe: describePermit,
  typedData: (bytes) => {
    const decoded = decodePermit(bytes)
    return decoded.ok ? permitTypedData(decoded.permit) : undefined
  },
  signed: (bytes, signature) => {
    const decoded = decodePermit(bytes)
    if (!decoded.ok) throw new TypeError(decoded.problem.code)
    return {
      signer: permitSignerOf(decoded.permit, signature),
      name: `permit:${decoded.permit.nonce}`,
    }
  },
}

/** Everything the machine needs for such a payment beside its journal, locks and clock. */
export function messagePorts(
  network: Network,
  terms: Terms,
  { adapter, kind }: { adapter: WalletAdapter; kind: 'authorization' | 'permit' },
): Pick<Ports, 'service' | 'chain' | 'reader' | 'wallet'> {
  const message = kind === 'permit' ? permit : authorization(terms)
  const chain = messageChain(network, { permit: kind === 'permit' })
  return {
    chain,
    service: messageService(network, message, { terms, head: chain.head }),
    reader: messageReader(message, terms),
    wallet: messageWallet(network, message, adapter),
  }
}

/** How long the signature is good for. */
function validS({ maxTimeoutSeconds }: Terms): number {
  return Math.min(maxTimeoutSeconds, MOST_S)
}

function messageService(
  network: Network,
  message: Kind,
  { terms, head }: { terms: Terms; head: PaymentChain['head'] },
): PaymentService {
  return {
    build: async (order) => {
      const { height } = await head(order)
      const now = Math.floor(serverNow() / 1000)
      const valid = validS(terms)
      const bytes = message.write(network, order, {
        validAfter: BigInt(now - EARLIER_S),
        validBefore: BigInt(now + valid),
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

function messageReader(message: Kind, terms: Terms): TransactionReader {
  // Read at each comparison: what is shown is good for no longer than from now.
  const latest = () => BigInt(Math.floor(serverNow() / 1000) + validS(terms))
  return {
    match: (order, attempt, bytes) =>
      message.match(toPaymentIntent(order, attempt), bytes, latest()),
    describe: (order, _attempt, bytes) => message.describe(bytes, order.asset),
    nonce: () => null,
    compareSigned: (order, built, signed) => {
      const { signer, name } = message.signed(built.bytes, signed)
      if (signer !== order.sender)
        return { ok: false, difference: describeSigner(signer, order.sender) }
      return { ok: true, signature: name }
    },
  }
}

function describeSigner(signer: string | undefined, wanted: string): string {
  return signer === undefined
    ? t`the signature is invalid; expected ${wanted}.`
    : t`${signer} signed; expected ${wanted}.`
}

/** Asks for a message's signature. Nothing leaves the browser by it, so every failure is a refusal. */
function messageWallet(network: Network, message: Kind, adapter: WalletAdapter): PaymentWallet {
  return {
    signer: (order: WalletPaymentIntent) => adapter.wallet.signer(order),
    pay: async (order, built) => {
      const data = message.typedData(built.bytes)
      if (!data)
        return {
          kind: 'refused',
          userError: describeUserError('refused_transaction', order.walletName),
        }
      try {
        const account = { address: order.sender, walletName: order.walletName }
        const signature = await adapter.signTypedData(network, account, data)
        return { kind: 'signed', bytes: hexToBytes(signature as Hex) }
      } catch (error) {
        const signal = signalOf(error)
        if (signal === 'unauthorized') return { kind: 'signer_changed' }
        return { kind: 'refused', userError: describeUnsigned(signal, order.walletName) }
      }
    },
  }
}
