import type { TokenInstructionName } from '#contract/facts.ts'
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAMS } from './programs.ts'
import { associatedTokenAccount } from './token-account.ts'

/** The two instructions a token payment is made of, in their one accepted form each. */

export type SplTransfer = {
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
export type AccountOpened = {
  kind: 'account_opened'
  payer: string
  account: string
  owner: string
  mint: string
  program: string
}

type Instruction = { program: string; accounts: readonly string[]; data: Uint8Array }

const TRANSFER_CHECKED = 12
const CREATE_IDEMPOTENT = 1

/** `TransferChecked` with a single authority. Further accounts would be a multisig's signers or a transfer hook's: not understood here. */
export function readTokenTransfer({
  program,
  accounts,
  data,
}: Instruction): SplTransfer | undefined {
  const [source, mint, destination, authority, ...more] = accounts
  if (!TOKEN_PROGRAMS.includes(program) || data[0] !== TRANSFER_CHECKED || data.length !== 10)
    return undefined
  if (!source || !mint || !destination || !authority || more.length > 0) return undefined
  const amountAtomic = new DataView(data.buffer, data.byteOffset).getBigUint64(1, true)
  return {
    kind: 'token_transfer',
    program,
    source,
    mint,
    destination,
    authority,
    amountAtomic,
    decimals: data[9] ?? 0,
  }
}

/** `CreateIdempotent` of the very account that follows from owner, mint and program; any other would be refused by the chain as well. */
export function readAccountOpened({
  program: called,
  accounts,
  data,
}: Instruction): AccountOpened | undefined {
  const [payer, account, owner, mint, system, program, ...more] = accounts
  if (called !== ASSOCIATED_TOKEN_PROGRAM || data.length !== 1 || data[0] !== CREATE_IDEMPOTENT)
    return undefined
  if (
    !payer ||
    !account ||
    !owner ||
    !mint ||
    system !== SYSTEM_PROGRAM ||
    !program ||
    more.length > 0
  )
    return undefined
  if (
    !TOKEN_PROGRAMS.includes(program) ||
    associatedTokenAccount({ owner, mint, program }).address !== account
  )
    return undefined
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

/** Instructions of the token programs that are never part of a payment, by their first byte; a refusal names them. */
const NAMES: Readonly<Record<number, TokenInstructionName>> = {
  3: 'transfer_without_mint',
  4: 'approve',
  5: 'revoke',
  6: 'set_authority',
  7: 'mint_to',
  8: 'burn',
  9: 'close_account',
  10: 'freeze_account',
  11: 'thaw_account',
  12: 'irregular_transfer',
  13: 'approve_checked',
  14: 'mint_to_checked',
  15: 'burn_checked',
  26: 'transfer_with_fee',
}

/** `name`: null where it is not known; `number`: its first byte, null where it has none. */
export type NamedInstruction = { name: TokenInstructionName | null; number: number | null }

/** What an instruction of a token program is named; undefined for other programs. */
export function nameTokenInstruction({
  program,
  data,
}: Pick<Instruction, 'program' | 'data'>): NamedInstruction | undefined {
  const number = data[0] ?? null
  if (program === ASSOCIATED_TOKEN_PROGRAM) return { name: 'associated_account', number }
  return TOKEN_PROGRAMS.includes(program)
    ? { name: NAMES[number ?? -1] ?? null, number }
    : undefined
}
