import type { Hex } from 'viem'
import type { Authorization } from '#chains/evm/authorization.ts'
import type { Chain } from '../chains/chain.ts'
import type { Contracts, Ending } from '../chains/contracts.ts'
import type { Context } from '../context/context.ts'
import type { MonitoredRecord } from '../db/payments.ts'

/** Later than any block. */
const NEVER = 2n ** 64n
/**
 * Our clock and the chain's may differ by this much; only the chain decides whether a time is over.
 */
const CLOCKS_DIFFER_MS = 60_000

/** What is known of a payment besides its key. */
type SignedPayment = Pick<MonitoredRecord, 'asset' | 'recipient' | 'amount' | 'expiresAt'>

/** What a payer signed for others to execute, and the contracts of its chain. */
export type SignedAuthorization = { authorization: Authorization; contracts: Contracts }

/**
 * The authorization of a payment, with the fields needed to find it on the chain: from the key of
 * its claim, `permit2:from:nonce` or `asset:from:nonce`. Undefined for the key of a transaction.
 */
export function readSignedAuthorization(
  { contracts }: Chain,
  key: string,
  payment: SignedPayment,
): SignedAuthorization | undefined {
  const { asset, recipient, amount, expiresAt } = payment
  const [scope = '', from, nonce] = key.split(':')
  if (contracts === null || from === undefined || nonce === undefined) return undefined
  const authorization: Authorization = {
    method: scope === 'permit2' ? 'permit2' : 'eip3009',
    token: asset as Hex,
    from: from as Hex,
    to: recipient as Hex,
    amountAtomic: amount,
    nonce: nonce as Hex,
    validBefore: expiresAt === null ? NEVER : BigInt(Math.floor(expiresAt.getTime() / 1000)),
    // Not needed to find it.
    validAfter: 0n,
    signature: '0x',
  }
  return { authorization, contracts }
}

const ENDINGS: Readonly<Record<Ending, string>> = {
  over: 'The authorization expired before it was executed. Nothing was paid.',
  taken_back: 'The payer cancelled the authorization. Nothing was paid.',
}

/**
 * Why nobody can execute it any more, as the chain itself proves; undefined while somebody may
 * have, or still may.
 * @param used whether a node says that it was used, and shows no transaction that executed it
 */
export async function authorizationEndReason(
  context: Context,
  { builtHeight, expiresAt }: MonitoredRecord,
  { authorization, contracts, used }: SignedAuthorization & { used: boolean },
): Promise<string | undefined> {
  const due = expiresAt !== null && context.now().getTime() > expiresAt.getTime() - CLOCKS_DIFFER_MS
  const ending = used || due ? await contracts.proveEnding(authorization, builtHeight) : null
  return ending === null ? undefined : ENDINGS[ending]
}
