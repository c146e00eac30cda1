import bs58 from 'bs58'
import { fact } from '#contract/facts.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { decodeTransaction, type SolanaFacts } from './decode.ts'
import type { SplTransfer } from './token-instructions.ts'

/** What a node says of a transaction, as web3.js reads `getTransaction`. */
export type SolanaChainTransaction = {
  slot: number
  blockTime?: number | null | undefined
  meta: {
    err: unknown
    fee: number
    preTokenBalances?: readonly TokenBalance[] | null | undefined
    postTokenBalances?: readonly TokenBalance[] | null | undefined
  } | null
  transaction: { message: { serialize(): Uint8Array }; signatures: readonly string[] }
}

/** A token account before or after a transaction. */
type TokenBalance = {
  accountIndex: number
  mint: string
  owner?: string | undefined
  uiTokenAmount: { amount: string }
}

/** How a token account's balance differs after a transaction; an account that was opened had none, one that was closed has none. */
export type TokenChange = {
  account: string
  mint: string
  owner: string | null
  changeAtomic: bigint
}

export type SolanaLandedFacts = SolanaFacts & {
  signature: string
  succeeded: boolean
  /** The slot. */
  blockHeight: number
  /** What the cluster says it took, in lamports. */
  feeAtomic: bigint
  /** Every token account whose balance is another one after the transaction. */
  tokenChanges: TokenChange[]
  /** Owners of the token accounts the transaction touched, as the node tells them, by account. */
  tokenOwners: ReadonlyMap<string, string>
}

export type SolanaLandedPayment =
  | ({ ok: true } & SolanaLandedFacts)
  | { ok: false; problem: DecodeProblem }

/** Reads what a node says of a landed transaction into the facts that the bytes of one give. */
export function decodeLanded({
  slot,
  meta,
  transaction,
}: SolanaChainTransaction): SolanaLandedPayment {
  if (meta === null) return { ok: false, problem: fact('endpoint_no_result') }
  const signatures = transaction.signatures.map((signature) => bs58.decodeUnsafe(signature))
  if (signatures.length > 0x7f || signatures.some((signature) => signature?.length !== 64))
    return { ok: false, problem: fact('endpoint_signature') }
  const bytes = Uint8Array.from([
    signatures.length,
    ...signatures.flatMap((signature) => [...(signature ?? [])]),
    ...transaction.message.serialize(),
  ])
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) return decoded
  if (decoded.signature === null) return { ok: false, problem: fact('unsigned') }
  const succeeded = meta.err === null
  const addresses = decoded.accounts.map(({ address }) => address)
  return {
    ...decoded,
    signature: decoded.signature,
    succeeded,
    blockHeight: slot,
    feeAtomic: BigInt(meta.fee),
    ...readTokens(addresses, meta),
  }
}

function readTokens(
  addresses: readonly string[],
  meta: NonNullable<SolanaChainTransaction['meta']>,
): Pick<SolanaLandedFacts, 'tokenChanges' | 'tokenOwners'> {
  const [before, after] = [meta.preTokenBalances ?? [], meta.postTokenBalances ?? []]
  const changes = new Map<string, TokenChange>()
  const owners = new Map<string, string>()
  for (const { balances, sign } of [
    { balances: before, sign: -1n },
    { balances: after, sign: 1n },
  ]) {
    for (const { accountIndex, mint, owner, uiTokenAmount } of balances) {
      const account = addresses[accountIndex]
      if (account === undefined) continue
      if (owner !== undefined) owners.set(account, owner)
      const changeAtomic =
        (changes.get(account)?.changeAtomic ?? 0n) + sign * BigInt(uiTokenAmount.amount)
      changes.set(account, { account, mint, owner: owner ?? null, changeAtomic })
    }
  }
  return {
    tokenChanges: [...changes.values()].filter(({ changeAtomic }) => changeAtomic !== 0n),
    tokenOwners: owners,
  }
}

/** Whether the balances moved as the one transfer says: so much less on its source, so much more on its destination, and on no other account. */
export function matchesTransfer(transfer: SplTransfer, changes: readonly TokenChange[]): boolean {
  const changeOf = (account: string) =>
    changes.find((change) => change.account === account && change.mint === transfer.mint)
      ?.changeAtomic
  return (
    changes.length === 2 &&
    changeOf(transfer.source) === -transfer.amountAtomic &&
    changeOf(transfer.destination) === transfer.amountAtomic
  )
}
