import bs58 from 'bs58'
import { fact } from '#contract/facts.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { decodeExecuted, type SolanaFacts } from './decode.ts'
import type { SplTransfer } from './token-instructions.ts'
import { NEWEST_VERSION, writeMessage } from './wire.ts'

/** How a landed transaction is asked for. A node refuses to show one of a newer version. */
export const LANDED_OPTIONS = {
  commitment: 'confirmed',
  maxSupportedTransactionVersion: NEWEST_VERSION,
} as const

const UNSUPPORTED_VERSION = -32_015

/** Whether a node refuses to show a transaction because it is of a newer version than it was asked for. */
export function isNewerVersion(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNSUPPORTED_VERSION
}

/** A message as web3.js reads it; of version 1 it does not write the bytes. */
type LandedMessage =
  | { serialize(): Uint8Array }
  | {
      header: {
        numRequiredSignatures: number
        numReadonlySignedAccounts: number
        numReadonlyUnsignedAccounts: number
      }
      staticAccountKeys: readonly { toBytes(): Uint8Array }[]
      recentBlockhash: string
      compiledInstructions: readonly {
        programIdIndex: number
        accountKeyIndexes: readonly number[]
        data: Uint8Array
      }[]
      transactionConfig: {
        priorityFee: number | null
        computeUnitLimit: number | null
        loadedAccountsDataSizeLimit: number | null
        heapSize: number | null
      }
    }

/** The bytes that the signers of a landed transaction have signed. */
export function messageBytes(message: LandedMessage): Uint8Array {
  if (!('transactionConfig' in message)) return message.serialize()
  const { header, staticAccountKeys, compiledInstructions, transactionConfig: config } = message
  const toBigint = (value: number | null) => (value === null ? null : BigInt(value))
  return writeMessage({
    version: 1,
    requiredSignatures: header.numRequiredSignatures,
    readonlySigned: header.numReadonlySignedAccounts,
    readonlyUnsigned: header.numReadonlyUnsignedAccounts,
    keys: staticAccountKeys.map((key) => key.toBytes()),
    blockhash: bs58.decode(message.recentBlockhash),
    instructions: compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      program: programIdIndex,
      accounts: accountKeyIndexes,
      data,
    })),
    config: {
      priorityFee: toBigint(config.priorityFee),
      computeUnitLimit: toBigint(config.computeUnitLimit),
      loadedAccountsDataSizeLimit: toBigint(config.loadedAccountsDataSizeLimit),
      heapSize: toBigint(config.heapSize),
    },
  })
}

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
  /** Its parts, or its bytes. */
  transaction: { message: LandedMessage; signatures: readonly string[] } | Uint8Array
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
  const bytes = transaction instanceof Uint8Array ? transaction : joinParts(transaction)
  if (!bytes) return { ok: false, problem: fact('endpoint_signature') }
  const decoded = decodeExecuted(bytes)
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

/** Undefined where a signature is none. */
function joinParts({
  message,
  signatures: texts,
}: Exclude<SolanaChainTransaction['transaction'], Uint8Array>): Uint8Array | undefined {
  const signatures = texts.map((signature) => bs58.decodeUnsafe(signature))
  if (signatures.length > 0x7f || signatures.some((signature) => signature?.length !== 64))
    return undefined
  const signed = signatures.flatMap((signature) => [...(signature ?? [])])
  return Uint8Array.from(
    'transactionConfig' in message
      ? [...messageBytes(message), ...signed]
      : [signatures.length, ...signed, ...message.serialize()],
  )
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
