import { SystemProgram, type AccountInfo } from '@solana/web3.js'
import { PROGRAMS, TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import { isMintAccount } from '#chains/solana/token-state.ts'
import type { RecipientReason } from '#contract/reasons.ts'

const LOADERS: readonly string[] = [
  'NativeLoader1111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
]
const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111'
const INCINERATOR = '1nc1nerator11111111111111111111111111111111'
/** Programs that are refused by name too: a cluster that has not deployed one knows no account there. */
const KNOWN_PROGRAMS: readonly string[] = [
  ...PROGRAMS,
  'Vote111111111111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
]

/** Why an address is no wallet that can be paid; undefined when it is one, or may become one. */
export function refuseRecipient(
  address: string,
  account: AccountInfo<Buffer> | null,
): RecipientReason | undefined {
  if (KNOWN_PROGRAMS.includes(address)) return { code: 'program_account', params: {} }
  if (address === INCINERATOR) return { code: 'incinerator', params: {} }
  if (!account) return undefined
  const owner = account.owner.toBase58()
  if (account.executable || LOADERS.includes(owner)) return { code: 'program_account', params: {} }
  if (owner === SYSVAR_OWNER) return { code: 'system_account', params: {} }
  if (isMint(account)) return { code: 'token_mint', params: {} }
  if (TOKEN_PROGRAMS.includes(owner)) return { code: 'token_account', params: {} }
  return undefined
}

export function isMint(account: AccountInfo<Buffer>): boolean {
  return isMintAccount(plain(account))
}

/** The account as this repository's own readers take it. */
export function plain(account: AccountInfo<Buffer>): { owner: string; data: Uint8Array } {
  return { owner: account.owner.toBase58(), data: account.data }
}

/** Whether the address can sign a plain transfer: a wallet, or nothing yet. */
export function canPay(account: AccountInfo<Buffer> | null): boolean {
  return (
    account === null ||
    (account.owner.equals(SystemProgram.programId) &&
      account.data.length === 0 &&
      !account.executable)
  )
}
