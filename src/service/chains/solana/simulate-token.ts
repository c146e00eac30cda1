import { PublicKey, type AccountInfo, type Connection } from '@solana/web3.js'
import { readMint } from '#chains/solana/mint.ts'
import { TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import {
  associatedTokenAccount,
  readTokenAccount,
  type TokenAccount,
} from '#chains/solana/token-account.ts'
import type { Asset } from '#contract/network.ts'
import { assetProblem, senderProblem } from '#contract/reason-problems.ts'
import type { BuiltTransaction, ExpectedTransfer } from '../chain.ts'
import { amountOf, tokenShortage } from '../shortage.ts'
import { readRentMinimum } from './client.ts'
import { plain } from './token.ts'

type Refused = Exclude<BuiltTransaction, { ok: true }>

/** The accounts a token payment runs through. */
export type TokenRoute = {
  program: string
  /** Where the search for the recipient's account ended, from 255 down. */
  bump: number
  source: string
  destination: string
  opensAccount: boolean
}

/** What is in them now. */
export type TokenSide = TokenRoute & {
  /** Lamports that opening the recipient's account takes. */
  rentAtomic: bigint
  /** What is on both sides before the payment. */
  balanceAtomic: bigint
  receivedAtomic: bigint
}

/** The most a transaction may use of the chain for a token: transfer, memo, and three guards of a wallet. */
const TRANSFER_UNITS = 60_000
/** Opening the account, measured without the search; with Token-2022 it asks the program for the size first. */
const OPENING_UNITS = 40_000
const UNITS_PER_STEP = 1_500

/** Each step of the search for the address is tried on the chain again. */
export function unitLimitOf({
  opensAccount,
  bump,
}: Pick<TokenSide, 'opensAccount' | 'bump'>): number {
  return opensAccount
    ? TRANSFER_UNITS + OPENING_UNITS + UNITS_PER_STEP * (255 - bump)
    : TRANSFER_UNITS
}

/**
 * The program of each mint that an endpoint has shown. A mint that is closed and made again may
 * belong to another one, so this serves to prepare a question and no more.
 */
const programs = new Map<string, string>()
const programKey = ({ rpcEndpoint }: Connection, { address }: Asset) => `${rpcEndpoint} ${address}`

/**
 * The accounts of a payment before anything is read, if its mint was read before. Opening an account
 * that is open already changes nothing.
 */
export function expectedRoute(
  connection: Connection,
  payment: Pick<ExpectedTransfer, 'asset' | 'sender' | 'recipient'>,
): TokenRoute | undefined {
  const program = programs.get(programKey(connection, payment.asset))
  if (program === undefined) return undefined
  const { source, destination } = accountsUnder(program, payment)
  return {
    program,
    bump: destination.bump,
    source,
    destination: destination.address,
    opensAccount: true,
  }
}

function accountsUnder(
  program: string,
  { asset, sender, recipient }: Pick<ExpectedTransfer, 'asset' | 'sender' | 'recipient'>,
) {
  const of = (owner: string) => associatedTokenAccount({ owner, mint: asset.address, program })
  return { program, source: of(sender).address, destination: of(recipient) }
}

/**
 * Reads mint and token accounts, and holds the payment against them.
 * @throws ProblemError `INVALID_PARAMETERS` when the asset is not what the configuration says, cannot pay an exact amount, or the sender's account is frozen
 */
export async function readTokenSide(
  connection: Connection,
  payment: ExpectedTransfer,
): Promise<TokenSide | Refused> {
  const { asset } = payment
  const { symbol } = asset
  const candidates = TOKEN_PROGRAMS.map((program) => accountsUnder(program, payment))
  const addresses = [
    asset.address,
    ...candidates.flatMap(({ source, destination }) => [source, destination.address]),
  ]
  const infos = await connection.getMultipleAccountsInfo(
    addresses.map((address) => new PublicKey(address)),
    'confirmed',
  )
  const accountAt = (address: string): AccountInfo<Buffer> | null =>
    infos[addresses.indexOf(address)] ?? null
  const mintAccount = accountAt(asset.address)
  const mint = mintAccount ? readMint(plain(mintAccount)) : undefined
  const accounts = candidates.find(({ program }) => program === mint?.program)
  if (!mint || !accounts)
    throw assetProblem({ code: 'asset_missing', params: { token: asset.address, symbol } })
  programs.set(programKey(connection, asset), mint.program)
  const token = { token: asset.address, symbol }
  if (mint.decimals !== asset.decimals)
    throw assetProblem({
      code: 'asset_decimals_differ',
      params: { ...token, configured: asset.decimals, onChain: mint.decimals },
    })
  if (mint.obstacle?.code === 'asset_not_transferable')
    throw assetProblem({ code: 'asset_not_transferable', params: token })
  if (mint.obstacle)
    throw assetProblem({
      code: 'asset_calls_program',
      params: { ...token, program: mint.obstacle.program },
    })

  const { program, source, destination } = accounts
  const target = accountAt(destination.address)
  // Lamports that somebody sent to the address before do not open the account, but count towards its rent.
  const opensAccount = target?.owner.toBase58() !== program
  const sourceAccount = read(accountAt(source))
  const refused =
    refuseBySource(payment, { account: source, tokenAccount: sourceAccount }) ??
    (opensAccount
      ? undefined
      : refuseByDestination(payment, { account: destination.address, tokenAccount: read(target) }))
  if (refused) return refused
  const rent = opensAccount
    ? BigInt(await readRentMinimum(connection, mint.accountBytes)) - BigInt(target?.lamports ?? 0)
    : 0n
  return {
    program,
    bump: destination.bump,
    source,
    destination: destination.address,
    opensAccount,
    rentAtomic: rent > 0n ? rent : 0n,
    balanceAtomic: sourceAccount?.amountAtomic ?? 0n,
    receivedAtomic: read(target)?.amountAtomic ?? 0n,
  }
}

/** Whether the trial run moved exactly the amount: a mint may keep a part of every transfer. */
export function refuseBySimulation(
  { asset, recipient, amountAtomic }: ExpectedTransfer,
  { balanceAtomic, receivedAtomic, destination: account }: TokenSide,
  [source, destination]: readonly ({ owner: string; data: Uint8Array } | undefined)[],
): Refused | undefined {
  const [left, arrived] = [
    source && readTokenAccount(source),
    destination && readTokenAccount(destination),
  ]
  // A node that shows no accounts has run the transaction all the same; what arrives, its landing shows.
  if (!left || !arrived) return undefined
  if (arrived.owner !== recipient)
    return refuseAccount('token_account_reassigned', { account, symbol: asset.symbol })
  const arrives = arrived.amountAtomic - receivedAtomic
  // Between the two readings another payment may have landed: only a difference between what leaves and what arrives tells of a fee.
  if (balanceAtomic - left.amountAtomic !== amountAtomic || arrives === amountAtomic)
    return undefined
  const params = {
    token: asset.address,
    symbol: asset.symbol,
    sent: amountOf(asset, amountAtomic),
    arrives: amountOf(asset, arrives),
  }
  throw assetProblem({ code: 'asset_keeps_part', params })
}

type HolderAccount = { account: string; tokenAccount: TokenAccount | undefined }

function refuseBySource(
  { asset, sender, amountAtomic }: ExpectedTransfer,
  { account, tokenAccount }: HolderAccount,
): Refused | undefined {
  if (tokenAccount?.frozen)
    throw senderProblem({
      code: 'sender_token_account_frozen',
      params: { account, symbol: asset.symbol },
    })
  const availableAtomic = tokenAccount?.owner === sender ? tokenAccount.amountAtomic : 0n
  if (availableAtomic >= amountAtomic) return undefined
  return tokenShortage(asset, { amountAtomic, availableAtomic })
}

/** The account at the recipient's derived address. In the older program its owner may have given it to another account. */
function refuseByDestination(
  { asset, recipient }: ExpectedTransfer,
  { account, tokenAccount }: HolderAccount,
): Refused | undefined {
  const params = { account, symbol: asset.symbol }
  if (tokenAccount?.owner !== recipient) return refuseAccount('token_account_reassigned', params)
  return tokenAccount.frozen ? refuseAccount('token_account_frozen', params) : undefined
}

function refuseAccount(
  code: 'token_account_reassigned' | 'token_account_frozen',
  params: { account: string; symbol: string },
): Refused {
  return { ok: false, code: 'INVALID_RECIPIENT', reason: { code, params } }
}

function read(account: AccountInfo<Buffer> | null): TokenAccount | undefined {
  return account ? readTokenAccount(plain(account)) : undefined
}
