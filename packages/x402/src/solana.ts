import { randomInt } from 'node:crypto'
import {
  createSolanaRpc,
  getTransactionDecoder,
  getTransactionEncoder,
  type KeyPairSigner,
} from '@solana/kit'
import { buildPayment } from '../../../src/chains/solana/build.ts'
import { NATIVE_SOL } from '../../../src/contract/network.ts'
import type { ExactClient } from '../../../src/x402/client/exact-client.ts'
import { ClientPaymentError } from '../../../src/x402/client/order.ts'
import { createSolanaClient, type SolanaPayer } from '../../../src/x402/client/solana.ts'

export { SOLANA_NATIVE } from '../../../src/contract/known-address.ts'
export { createSolanaClient, type SolanaPayer } from '../../../src/x402/client/solana.ts'
export { ClientPaymentError, type ClientPayment } from '../../../src/x402/client/order.ts'

export type KitPayerOptions = {
  /** Holds the key in this process, for example `createKeyPairSignerFromBytes(bytes)`. */
  signer: KeyPairSigner
  /** The RPC endpoint of the network that payments are made on. */
  rpcUrl: string
  /** The price of a compute unit, in millionths of a lamport; 10,000 without it. */
  unitPriceMicroLamports?: bigint
}

const UNITS = 20_000

/** The scheme `exact` for a signer of @solana/kit: SOL by `native-transfer`, tokens by their programs. The seller broadcasts. */
export function createKitClient(options: KitPayerOptions): ExactClient {
  return createSolanaClient(createKitPayer(options))
}

export function createKitPayer({
  signer,
  rpcUrl,
  unitPriceMicroLamports = 10_000n,
}: KitPayerOptions): SolanaPayer {
  const rpc = createSolanaRpc(rpcUrl)

  async function signTransaction(bytes: Uint8Array): Promise<Uint8Array> {
    const transaction = getTransactionDecoder().decode(bytes)
    const [signatures] = await signer.signTransactions([transaction as Signable])
    return Uint8Array.from(
      getTransactionEncoder().encode({
        ...transaction,
        signatures: { ...transaction.signatures, ...signatures },
      }),
    )
  }

  return {
    address: signer.address,
    rpcUrl,
    signTransaction,
    async signPayment({ network, payTo, amountAtomic, memo, feePayer }) {
      try {
        const { value } = await rpc.getLatestBlockhash().send()
        return await signTransaction(
          buildPayment({
            network,
            asset: NATIVE_SOL,
            sender: signer.address,
            recipient: payTo,
            amountAtomic,
            paymentId: memo ?? '',
            ...(feePayer !== null && { feePayer }),
            blockhash: value.blockhash,
            // Two equal payments within the life of one blockhash would be one.
            unitLimit: UNITS + randomInt(10_000),
            unitPriceMicroLamports,
          }),
        )
      } catch (cause) {
        throw new ClientPaymentError('The payment could not be signed. Nothing was sent.', {
          cause,
        })
      }
    },
  }
}

type Signable = Parameters<KeyPairSigner['signTransactions']>[0][number]
