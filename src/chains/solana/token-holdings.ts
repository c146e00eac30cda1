import { TOKEN_PROGRAMS } from './programs.ts'
import { associatedTokenAccount } from './token-account.ts'
import { readTokenAccount } from './token-state.ts'

/** Where a wallet's tokens of a mint can be: the associated account of either token program. */
export function holdersOf(owner: string, mint: string): string[] {
  return TOKEN_PROGRAMS.map((program) => associatedTokenAccount({ owner, mint, program }).address)
}

/** An account as a node tells of it. */
type Told = { owner: string; data: readonly [string, 'base64'] }

/** What an account holds of a wallet's tokens of a mint: nothing where it is none of the wallet's. */
export function tokensIn(account: Told | null | undefined, wallet: string, mint: string): bigint {
  if (!account) return 0n
  const data = Uint8Array.from(atob(account.data[0]), (char) => char.charCodeAt(0))
  const token = readTokenAccount({ owner: account.owner, data })
  return token && token.owner === wallet && token.mint === mint ? token.amountAtomic : 0n
}
