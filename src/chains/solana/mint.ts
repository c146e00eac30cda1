import { TOKEN_2022_PROGRAM } from './programs.ts'
import { isMintAccount, keyAt, readExtensions } from './token-account.ts'

/** What a mint says that decides whether an exact amount of its token can be paid. */
export type Mint = {
  program: string
  decimals: number
  /** What prevents an exact payment; undefined for a plain token. */
  obstacle: MintObstacle | undefined
  /** Of the token account that a new holder gets, extensions included. */
  accountBytes: number
}

export type MintObstacle =
  | { code: 'asset_not_transferable' }
  | { code: 'asset_calls_program'; program: string }

/** Numbers of Token-2022's extensions. @see https://github.com/solana-program/token-2022 (interface/src/extension/mod.rs) */
const TRANSFER_FEE_CONFIG = 1
const NON_TRANSFERABLE = 9
const TRANSFER_HOOK = 14
const PAUSABLE = 26

const ACCOUNT_BYTES = 165
/** The kind of account, and the head of one extension: its number and its length. */
const KIND_BYTES = 1
const HEAD_BYTES = 4
/** What the mint's extensions ask of every holder's account, in bytes after the head. */
const HOLDER_BYTES: Readonly<Record<number, number>> = {
  [TRANSFER_FEE_CONFIG]: 8,
  [NON_TRANSFERABLE]: 0,
  [TRANSFER_HOOK]: 1,
  [PAUSABLE]: 0,
}
/** An associated account can never change its owner under Token-2022, and says so. */
const IMMUTABLE_OWNER_BYTES = HEAD_BYTES

/**
 * A mint, read from its account; undefined when the account is none, or not set up. A fee on transfers is no obstacle here: whether one is
 * taken at this moment, and how much arrives, a trial run shows.
 */
export function readMint(account: { owner: string; data: Uint8Array }): Mint | undefined {
  const { owner: program, data } = account
  if (!isMintAccount(account) || data[45] !== 1) return undefined
  const decimals = data[44] ?? 0
  if (program !== TOKEN_2022_PROGRAM)
    return { program, decimals, obstacle: undefined, accountBytes: ACCOUNT_BYTES }
  const extensions = readExtensions(data)
  const sizes = extensions
    .map(({ type }) => HOLDER_BYTES[type])
    .filter((bytes) => bytes !== undefined)
  const accountBytes =
    ACCOUNT_BYTES +
    KIND_BYTES +
    IMMUTABLE_OWNER_BYTES +
    sizes.reduce((sum, bytes) => sum + HEAD_BYTES + bytes, 0)
  return {
    program,
    decimals,
    obstacle: extensions.map(obstacleOf).find((obstacle) => obstacle !== undefined),
    accountBytes,
  }
}

function obstacleOf({
  type,
  value,
}: {
  type: number
  value: Uint8Array
}): MintObstacle | undefined {
  if (type === NON_TRANSFERABLE) return { code: 'asset_not_transferable' }
  // Authority first, then the program; all zeros where there is none.
  if (type === TRANSFER_HOOK && value.subarray(32, 64).some((byte) => byte !== 0))
    return { code: 'asset_calls_program', program: keyAt(value, 32) }
  return undefined
}
