import { SystemProgram, type AccountInfo } from '@solana/web3.js'

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
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
  SystemProgram.programId.toBase58(),
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'ComputeBudget111111111111111111111111111111',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Vote111111111111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
]

/** Length of a mint, and where Token-2022 says what an account is (1: a mint, 2: a token account). */
export const MINT_LENGTH = 82
export const ACCOUNT_TYPE_OFFSET = 165

/** Why an address is no wallet that can be paid; undefined when it is one, or may become one. */
export function refuseRecipient(address: string, account: AccountInfo<Buffer> | null): string | undefined {
  if (KNOWN_PROGRAMS.includes(address)) return 'The recipient is a program: nobody could use the payment.'
  if (address === INCINERATOR) return 'The recipient is the incinerator: what is sent there is destroyed.'
  if (!account) return undefined
  const owner = account.owner.toBase58()
  if (account.executable || LOADERS.includes(owner)) return 'The recipient is a program: nobody could use the payment.'
  if (owner === SYSVAR_OWNER) return 'The recipient is a system account of the network: nobody could use the payment.'
  if (isMint(account)) return 'The recipient is the mint of a token: nobody could use the payment.'
  if (isTokenProgram(owner)) return 'The recipient is a token account. Pay the wallet that owns it.'
  return undefined
}

export function isTokenProgram(owner: string): boolean {
  return owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM
}

export function isMint(account: AccountInfo<Buffer>): boolean {
  if (!isTokenProgram(account.owner.toBase58())) return false
  return account.data.length === MINT_LENGTH || (account.data.length > ACCOUNT_TYPE_OFFSET && account.data[ACCOUNT_TYPE_OFFSET] === 1)
}

/** Whether the address can sign a plain transfer: a wallet, or nothing yet. */
export function canPay(account: AccountInfo<Buffer> | null): boolean {
  return account === null || (account.owner.equals(SystemProgram.programId) && account.data.length === 0 && !account.executable)
}
