import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAMS } from './programs.ts'
import { associatedTokenAccount } from './token-account.ts'

/** The two instructions a token payment is made of, in their one accepted form each. */

export type TokenTransfer = {
  kind: 'token_transfer'
  /** Which of the two token programs. */
  program: string
  source: string
  mint: string
  destination: string
  authority: string
  amountAtomic: bigint
  decimals: number
}

/** Opens the associated token account of an owner if it is missing; does nothing if it is there. */
export type AccountOpened = { kind: 'account_opened'; payer: string; account: string; owner: string; mint: string; program: string }

type Instruction = { program: string; accounts: readonly string[]; data: Uint8Array }

const TRANSFER_CHECKED = 12
const CREATE_IDEMPOTENT = 1

/** `TransferChecked` with a single authority. Further accounts would be a multisig's signers or a transfer hook's: not understood here. */
export function readTokenTransfer({ program, accounts, data }: Instruction): TokenTransfer | undefined {
  const [source, mint, destination, authority, ...more] = accounts
  if (!TOKEN_PROGRAMS.includes(program) || data[0] !== TRANSFER_CHECKED || data.length !== 10) return undefined
  if (!source || !mint || !destination || !authority || more.length > 0) return undefined
  const amountAtomic = new DataView(data.buffer, data.byteOffset).getBigUint64(1, true)
  return { kind: 'token_transfer', program, source, mint, destination, authority, amountAtomic, decimals: data[9] ?? 0 }
}

/** `CreateIdempotent` of the very account that follows from owner, mint and program; any other would be refused by the chain as well. */
export function readAccountOpened({ program: called, accounts, data }: Instruction): AccountOpened | undefined {
  const [payer, account, owner, mint, system, program, ...more] = accounts
  if (called !== ASSOCIATED_TOKEN_PROGRAM || data.length !== 1 || data[0] !== CREATE_IDEMPOTENT) return undefined
  if (!payer || !account || !owner || !mint || system !== SYSTEM_PROGRAM || !program || more.length > 0) return undefined
  if (!TOKEN_PROGRAMS.includes(program) || associatedTokenAccount({ owner, mint, program }).address !== account) return undefined
  return { kind: 'account_opened', payer, account, owner, mint, program }
}

export function writeTokenTransfer(amountAtomic: bigint, decimals: number): Uint8Array {
  const data = new Uint8Array(10)
  data[0] = TRANSFER_CHECKED
  new DataView(data.buffer).setBigUint64(1, amountAtomic, true)
  data[9] = decimals
  return data
}

export function writeAccountOpened(): Uint8Array {
  return Uint8Array.of(CREATE_IDEMPOTENT)
}

/** Instructions of the token programs that are never part of a payment, by their first byte; for whoever reads the refusal. */
const NAMES: Readonly<Record<number, string>> = {
  3: 'Transfer, which names no mint',
  4: 'Approve: lets somebody take tokens later',
  5: 'Revoke',
  6: 'SetAuthority: gives an account or a mint away',
  7: 'MintTo',
  8: 'Burn: destroys tokens',
  9: 'CloseAccount: takes the account’s rent',
  10: 'FreezeAccount',
  11: 'ThawAccount',
  12: 'TransferChecked, not in its plain form',
  13: 'ApproveChecked: lets somebody take tokens later',
  14: 'MintToChecked',
  15: 'BurnChecked: destroys tokens',
  26: 'a transfer with a fee',
}

/** What an instruction of a token program is named; undefined for other programs. */
export function nameTokenInstruction({ program, data }: Pick<Instruction, 'program' | 'data'>): string | undefined {
  if (program === ASSOCIATED_TOKEN_PROGRAM) return 'another instruction of the associated token program'
  if (!TOKEN_PROGRAMS.includes(program)) return undefined
  return NAMES[data[0] ?? -1] ?? `instruction ${data[0] ?? 'nothing'} of the token program`
}
