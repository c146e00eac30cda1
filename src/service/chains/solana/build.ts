import { PublicKey, type AccountInfo } from '@solana/web3.js'
import { buildPayment } from '#chains/solana/build.ts'
import { feeBoundAtomic, priorityFeeOfPrice } from '#chains/solana/fee.ts'
import type { PaymentIntent } from '#chains/intent.ts'
import { formatAmount } from '#contract/amount.ts'
import { nativeAsset, type Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Built } from '../chain.ts'
import { canPay, refuseRecipient } from './accounts.ts'
import type { SolanaEndpoints } from './client.ts'
import { readUnitPrice, UNIT_LIMIT } from './fees.ts'
import { simulate } from './simulate.ts'

export type BuildRequest = { intent: Omit<PaymentIntent, 'maxFeeAtomic'>; priorityFeeAtomic?: bigint }

/** Compute limit, compute price, transfer, memo. */
const INSTRUCTIONS = 4

/** Builds the payment on a blockhash of this moment, after checking balances and rent, and simulates it. */
export function build(endpoints: SolanaEndpoints, network: Network, request: BuildRequest): Promise<Built> {
  return endpoints.ask(async (connection): Promise<Built> => {
    const { intent, priorityFeeAtomic } = request
    const { sender, recipient, amountAtomic } = intent
    const [accounts, rent, unitPrice, latest] = await Promise.all([
      connection.getMultipleAccountsInfo([new PublicKey(sender), new PublicKey(recipient)], 'confirmed'),
      connection.getMinimumBalanceForRentExemption(0),
      readUnitPrice(connection, [sender, recipient], priorityFeeAtomic),
      connection.getLatestBlockhashAndContext('confirmed'),
    ])
    const [from = null, to = null] = accounts
    const feeAtomic = feeBoundAtomic({ signatures: 1, instructions: INSTRUCTIONS, unitLimit: UNIT_LIMIT, unitPriceMicroLamports: unitPrice })
    const refused =
      refuseByRecipient(network, { recipient, amountAtomic, to, rentAtomic: BigInt(rent) }) ??
      refuseBySender(network, { from, amountAtomic, feeAtomic, rentAtomic: BigInt(rent) })
    if (refused) return refused

    const { blockhash, lastValidBlockHeight } = latest.value
    const bytes = buildPayment({ ...intent, blockhash, unitLimit: UNIT_LIMIT, unitPriceMicroLamports: unitPrice })
    const refusal = await simulate(connection, bytes)
    if (refusal !== undefined) {
      // Another payment of the same wallet may have landed since the balance was read.
      const now = await connection.getAccountInfo(new PublicKey(sender), 'confirmed')
      const short = refuseBySender(network, { from: now, amountAtomic, feeAtomic, rentAtomic: BigInt(rent) })
      return short ?? { ok: false, code: 'INVALID_RECIPIENT', message: `The network refuses this payment: ${refusal}` }
    }
    return {
      ok: true,
      bytes,
      encoding: 'solana-wire-v0',
      builtHeight: latest.context.slot,
      lastValidBlockHeight,
      feeAtomic,
      priorityFeeAtomic: priorityFeeOfPrice(unitPrice, BigInt(UNIT_LIMIT)),
      decoded: {
        version: 0,
        feePayer: sender,
        recentBlockhash: blockhash,
        unitLimit: UNIT_LIMIT,
        unitPriceMicroLamports: unitPrice.toString(),
        transfer: { from: sender, to: recipient, lamports: amountAtomic.toString() },
        memo: intent.paymentId,
      },
    }
  })
}

type Recipient = { recipient: string; amountAtomic: bigint; to: AccountInfo<Buffer> | null; rentAtomic: bigint }

function refuseByRecipient(network: Network, { recipient, amountAtomic, to, rentAtomic }: Recipient): Built | undefined {
  const message = refuseRecipient(recipient, to)
  if (message) return { ok: false, code: 'INVALID_RECIPIENT', message }
  if (BigInt(to?.lamports ?? 0) + amountAtomic >= rentAtomic) return undefined
  const { address, symbol, decimals } = nativeAsset(network)
  const minimum = formatAmount(rentAtomic - BigInt(to?.lamports ?? 0), decimals)
  return {
    ok: false,
    code: 'INVALID_RECIPIENT',
    message: `This address has never been used: its first payment must be at least ${minimum} ${symbol}.`,
    details: { minimum, minimumAtomic: (rentAtomic - BigInt(to?.lamports ?? 0)).toString(), asset: address, symbol },
  }
}

type Sender = { from: AccountInfo<Buffer> | null; amountAtomic: bigint; feeAtomic: bigint; rentAtomic: bigint }

/** After the payment a wallet must be empty, or hold the rent-exempt minimum: the cluster refuses anything between. */
function refuseBySender(network: Network, { from, amountAtomic, feeAtomic, rentAtomic }: Sender): Built | undefined {
  if (!canPay(from)) {
    throw new ProblemError('INVALID_PARAMETERS', {
      message: 'walletAddress is not a wallet.',
      details: { walletAddress: 'Expected a wallet, received an account that belongs to a program.' },
    })
  }
  const availableAtomic = BigInt(from?.lamports ?? 0)
  const left = availableAtomic - amountAtomic - feeAtomic
  if (left === 0n || left >= rentAtomic) return undefined
  const requiredAtomic = amountAtomic + feeAtomic + (left > 0n ? rentAtomic : 0n)
  return { ok: false, code: 'INSUFFICIENT_BALANCE', requiredAtomic, availableAtomic, feeAtomic, asset: nativeAsset(network) }
}
