import { PublicKey, type Connection } from '@solana/web3.js'
import { TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import { associatedTokenAccount } from '#chains/solana/token-account.ts'
import { readTokenAccount } from '#chains/solana/token-state.ts'
import type { Network } from '#contract/network.ts'
import type { AssetBalance } from '../state/wallet-adapter.ts'

/** The most accounts a node tells of in one answer. */
const ACCOUNTS = 100

/**
 * What a wallet holds of each of the network's assets, in their order. Tokens are those of the associated accounts, under whichever of the two
 * programs the mint belongs to: payments are made out of these alone.
 */
export async function readBalances(
  connection: Connection,
  network: Network,
  owner: string,
): Promise<AssetBalance[]> {
  const addressesOf = (mint: string) =>
    TOKEN_PROGRAMS.map((program) => associatedTokenAccount({ owner, mint, program }).address)
  const addresses = [
    owner,
    ...network.assets
      .filter(({ native }) => !native)
      .flatMap(({ address }) => addressesOf(address)),
  ]
  const accounts = new Map<
    string,
    { lamports: number; owner: PublicKey; data: Uint8Array } | null
  >()
  for (let start = 0; start < addresses.length; start += ACCOUNTS) {
    const page = addresses.slice(start, start + ACCOUNTS)
    const infos = await connection.getMultipleAccountsInfo(
      page.map((address) => new PublicKey(address)),
      'confirmed',
    )
    for (const [index, address] of page.entries()) accounts.set(address, infos[index] ?? null)
  }
  const heldIn = (address: string, mint: string): bigint => {
    const account = accounts.get(address)
    const token =
      account && readTokenAccount({ owner: account.owner.toBase58(), data: account.data })
    return token && token.owner === owner && token.mint === mint ? token.amountAtomic : 0n
  }
  return network.assets.map((asset) => ({
    asset,
    atomic: asset.native
      ? BigInt(accounts.get(owner)?.lamports ?? 0)
      : addressesOf(asset.address).reduce(
          (sum, address) => sum + heldIn(address, asset.address),
          0n,
        ),
  }))
}
