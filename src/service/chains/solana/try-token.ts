import { PublicKey, type AccountInfo, type Connection } from '@solana/web3.js'
import { readMint } from '#chains/solana/mint.ts'
import { TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import { associatedTokenAccount } from '#chains/solana/token-account.ts'
import { readTokenAccount, type TokenAccount } from '#chains/solana/token-state.ts'
import { formatAmount } from '#contract/amount.ts'
import type { Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Built, Paid } from '../chain.ts'
import { refuseAsset } from '../refuse-asset.ts'
import { plain } from './accounts.ts'

type Refused = Exclude<Built, { ok: true }>

/** The accounts a token payment runs through, and what is in them now. */
export type TokenSide = {
  program: string
  /** What searching for the recipient's account costs on the chain; 0 where it is there. */
  bump: number
  source: string
  destination: string
  opensAccount: boolean
  /** Lamports that opening it takes. */
  rentAtomic: bigint
  /** What is on both sides before the payment. */
  heldAtomic: bigint
  receivedAtomic: bigint
}

/** The most a transaction may use of the chain for a token: transfer, memo, and three guards of a wallet. */
const TRANSFER_UNITS = 60_000
/** Opening the account, measured without the search; with Token-2022 it asks the program for the size first. */
const OPENING_UNITS = 40_000
const UNITS_PER_STEP = 1_500

/** Each step of the search for the address is tried on the chain again. */
export function unitLimitOf({ opensAccount, bump }: Pick<TokenSide, 'opensAccount' | 'bump'>): number {
  return opensAccount ? TRANSFER_UNITS + OPENING_UNITS + UNITS_PER_STEP * (255 - bump) : TRANSFER_UNITS
}

/**
 * Reads mint and token accounts, and holds the payment against them.
 * @throws ProblemError `INVALID_PARAMETERS` when the asset is not what the configuration says, cannot pay an exact amount, or the sender's account is frozen
 */
export async function readTokenSide(connection: Connection, network: Network, payment: Paid): Promise<TokenSide | Refused> {
  const { asset, sender, recipient } = payment
  const candidates = TOKEN_PROGRAMS.map((program) => {
    const of = (owner: string) => associatedTokenAccount({ owner, mint: asset.address, program })
    return { program, source: of(sender).address, destination: of(recipient) }
  })
  const addresses = [asset.address, ...candidates.flatMap(({ source, destination }) => [source, destination.address])]
  const infos = await connection.getMultipleAccountsInfo(
    addresses.map((address) => new PublicKey(address)),
    'confirmed',
  )
  const accountAt = (address: string): AccountInfo<Buffer> | null => infos[addresses.indexOf(address)] ?? null
  const mintAccount = accountAt(asset.address)
  const mint = mintAccount ? readMint(plain(mintAccount)) : undefined
  const accounts = candidates.find(({ program }) => program === mint?.program)
  if (!mint || !accounts) throw refuseAsset(asset, `there is no token at ${asset.address} on ${network.name}`)
  if (mint.decimals !== asset.decimals) throw refuseAsset(asset, `it is configured with ${asset.decimals} decimals, and its mint says ${mint.decimals}`)
  if (mint.obstacle !== undefined) throw refuseAsset(asset, mint.obstacle)

  const { program, source, destination } = accounts
  const target = accountAt(destination.address)
  // Lamports that somebody sent to the address before do not open the account, but count towards its rent.
  const opensAccount = target?.owner.toBase58() !== program
  const held = read(accountAt(source))
  const refused = refuseBySource(payment, held) ?? (opensAccount ? undefined : refuseByDestination(payment, read(target)))
  if (refused) return refused
  const rent = opensAccount ? BigInt(await connection.getMinimumBalanceForRentExemption(mint.accountBytes)) - BigInt(target?.lamports ?? 0) : 0n
  return {
    program,
    bump: destination.bump,
    source,
    destination: destination.address,
    opensAccount,
    rentAtomic: rent > 0n ? rent : 0n,
    heldAtomic: held?.amountAtomic ?? 0n,
    receivedAtomic: read(target)?.amountAtomic ?? 0n,
  }
}

/** Whether the trial run moved exactly the amount: a mint may keep a part of every transfer. */
export function refuseByTrial(
  { asset, recipient, amountAtomic }: Paid,
  { heldAtomic, receivedAtomic }: TokenSide,
  [source, destination]: readonly ({ owner: string; data: Uint8Array } | undefined)[],
): Refused | undefined {
  const [left, arrived] = [source && readTokenAccount(source), destination && readTokenAccount(destination)]
  // A node that shows no accounts has run the transaction all the same; what arrives, its landing shows.
  if (!left || !arrived) return undefined
  if (arrived.owner !== recipient) return { ok: false, code: 'INVALID_RECIPIENT', message: `The recipient's ${asset.symbol} account belongs to somebody else.` }
  const arrives = arrived.amountAtomic - receivedAtomic
  // Between the two readings another payment may have landed: only a difference between what leaves and what arrives tells of a fee.
  if (heldAtomic - left.amountAtomic !== amountAtomic || arrives === amountAtomic) return undefined
  const [wanted, got] = [formatAmount(amountAtomic, asset.decimals), formatAmount(arrives, asset.decimals)]
  throw refuseAsset(asset, `it keeps a part of what is sent: of ${wanted}, ${got} would arrive`)
}

function refuseBySource({ asset, sender, amountAtomic }: Paid, held: TokenAccount | undefined): Refused | undefined {
  if (held?.frozen)
    throw new ProblemError('INVALID_PARAMETERS', {
      message: `The issuer of ${asset.symbol} has frozen the sender's account.`,
      details: { walletAddress: `Expected a wallet that can pay ${asset.symbol}, received one whose account is frozen.` },
    })
  const availableAtomic = held?.owner === sender ? held.amountAtomic : 0n
  if (availableAtomic >= amountAtomic) return undefined
  return { ok: false, code: 'INSUFFICIENT_BALANCE', requiredAtomic: amountAtomic, availableAtomic, feeAtomic: 0n, asset }
}

/** The account at the recipient's derived address; in the older program its owner may have given it to somebody else. */
function refuseByDestination({ asset, recipient }: Paid, token: TokenAccount | undefined): Refused | undefined {
  const refuse = (message: string): Refused => ({ ok: false, code: 'INVALID_RECIPIENT', message })
  if (!token || token.owner !== recipient) return refuse(`The recipient's ${asset.symbol} account belongs to somebody else.`)
  return token.frozen ? refuse(`The issuer of ${asset.symbol} has frozen the recipient's account.`) : undefined
}

function read(account: AccountInfo<Buffer> | null): TokenAccount | undefined {
  return account ? readTokenAccount(plain(account)) : undefined
}
