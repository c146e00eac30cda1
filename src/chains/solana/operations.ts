import { bytesToHex } from '@noble/hashes/utils.js'
import {
  addressFact,
  amountFact,
  countFact,
  fact,
  listFact,
  textFact,
  type MatchItem,
  type SharedFact,
} from '#contract/facts.ts'
import { NATIVE_SOL, type Asset } from '#contract/network.ts'
import type { Step } from '../match.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LIGHTHOUSE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  TOKEN_PROGRAMS,
} from './programs.ts'
import {
  nameTokenInstruction,
  readAccountOpened,
  readTokenTransfer,
  type AccountOpened,
  type SplTransfer,
} from './token-instructions.ts'

/** One instruction with its accounts as addresses. */
export type Instruction = { program: string; accounts: readonly string[]; data: Uint8Array }

/**
 * What an instruction does, if this program understands it to the last byte; everything else is
 * `unknown`.
 */
export type Operation =
  | { kind: 'fee_limit'; units: number }
  | { kind: 'fee_price'; microLamports: bigint }
  | { kind: 'transfer'; from: string; to: string; lamports: bigint }
  | SplTransfer
  | AccountOpened
  | { kind: 'memo'; program: string; text: string; signers: readonly string[] }
  | { kind: 'guard'; assertion: number; accounts: readonly string[]; data: Uint8Array }
  | { kind: 'unknown'; program: string; accounts: readonly string[]; data: Uint8Array }

/**
 * Lighthouse's first two instructions write and close accounts with the payer's money; all others
 * only assert.
 */
const FIRST_ASSERTION = 2

const MOVERS: readonly string[] = [SYSTEM_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, ...TOKEN_PROGRAMS]

export function readOperation(instruction: Instruction): Operation {
  return readKnown(instruction) ?? { kind: 'unknown', ...instruction }
}

function readKnown({ program, accounts, data }: Instruction): Operation | undefined {
  const tag = data[0]
  switch (program) {
    case COMPUTE_BUDGET_PROGRAM:
      if (accounts.length > 0) return undefined
      if (tag === 2 && data.length === 5)
        return { kind: 'fee_limit', units: Number(readLittleEndian(data.subarray(1))) }
      if (tag === 3 && data.length === 9)
        return { kind: 'fee_price', microLamports: readLittleEndian(data.subarray(1)) }
      return undefined
    case SYSTEM_PROGRAM: {
      const [from, to, ...more] = accounts
      if (
        data.length !== 12 ||
        readLittleEndian(data.subarray(0, 4)) !== 2n ||
        !from ||
        !to ||
        more.length > 0
      )
        return undefined
      return { kind: 'transfer', from, to, lamports: readLittleEndian(data.subarray(4)) }
    }
    case TOKEN_PROGRAM:
    case TOKEN_2022_PROGRAM:
      return readTokenTransfer({ program, accounts, data })
    case ASSOCIATED_TOKEN_PROGRAM:
      return readAccountOpened({ program, accounts, data })
    case MEMO_PROGRAM:
    case MEMO_V1_PROGRAM: {
      const text = readText(data)
      return text === undefined ? undefined : { kind: 'memo', program, text, signers: accounts }
    }
    case LIGHTHOUSE_PROGRAM:
      // Without these programs among its accounts it can call none of them, so none of its
      // instructions moves anything of a signer.
      if (
        tag === undefined ||
        tag < FIRST_ASSERTION ||
        accounts.some((account) => MOVERS.includes(account))
      )
        return undefined
      return { kind: 'guard', assertion: tag, accounts, data }
    default:
      return undefined
  }
}

function readLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

function readText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The operation as a review shows it; tokens by mint, or by name if they are among those given. */
export function describeOperation(operation: Operation, tokens: readonly Asset[] = []): Step {
  const { kind } = operation
  switch (kind) {
    case 'fee_limit':
      return { kind, facts: { units: countFact(operation.units) } }
    case 'fee_price':
      return {
        kind,
        facts: {
          price: {
            code: 'price_per_unit',
            params: { microLamports: operation.microLamports.toString() },
          },
        },
      }
    case 'transfer':
      return {
        kind,
        facts: {
          from: addressFact(operation.from),
          to: addressFact(operation.to),
          amount: amountFact(operation.lamports, NATIVE_SOL),
        },
      }
    case 'token_transfer': {
      const { source: from, destination: to, mint, amountAtomic, decimals } = operation
      const symbol = tokens.find(({ address }) => address === mint)?.symbol
      const amount =
        symbol === undefined
          ? ({
              code: 'token_amount',
              params: { amountAtomic: amountAtomic.toString(), decimals, token: null },
            } as const)
          : amountFact(amountAtomic, { symbol, decimals })
      return {
        kind,
        facts: { from: addressFact(from), to: addressFact(to), amount, token: addressFact(mint) },
      }
    }
    case 'account_opened': {
      const { account, owner, mint, payer } = operation
      return {
        kind,
        facts: {
          account: addressFact(account),
          owner: addressFact(owner),
          token: addressFact(mint),
          payer: addressFact(payer),
        },
      }
    }
    case 'memo':
      return { kind, facts: { text: textFact(operation.text) } }
    case 'guard':
      return {
        kind,
        facts: {
          program: textFact('Lighthouse'),
          assertion: countFact(operation.assertion),
          accounts: countFact(operation.accounts.length),
        },
      }
    case 'unknown':
      return {
        kind,
        facts: {
          ...nameUnknown(operation),
          program: addressFact(operation.program),
          accounts: listFact(operation.accounts.map(addressFact), fact('none')),
          data: { code: 'data', params: { data: bytesToHex(operation.data) } },
        },
      }
  }
}

function nameUnknown(operation: { program: string; data: Uint8Array }): { call?: MatchItem } {
  const named = nameTokenInstruction(operation)
  return named === undefined
    ? {}
    : { call: { code: 'token_instruction', params: { program: operation.program, ...named } } }
}

/** What an operation is, for a list of all. */
export function operationFact(operation: Operation): MatchItem {
  if (operation.kind !== 'unknown') return operationKind(operation)
  return (
    nameUnknown(operation).call ?? {
      code: 'unknown_instruction',
      params: { program: operation.program },
    }
  )
}

const KINDS = {
  fee_limit: 'compute_limit',
  fee_price: 'compute_price',
  transfer: 'transfer',
  token_transfer: 'token_transfer',
  account_opened: 'account_opened',
  memo: 'memo',
  guard: 'wallet_guard',
  unknown: 'other_instruction',
} as const satisfies Record<Operation['kind'], SharedFact['code']>

/** The kind of an operation alone. */
export function operationKind({ kind }: Operation) {
  return fact(KINDS[kind])
}

/** A text that is equal only for equal operations. */
export function formatOperation(operation: Operation): string {
  return JSON.stringify(operation, (_, value: unknown) =>
    value instanceof Uint8Array
      ? bytesToHex(value)
      : typeof value === 'bigint'
        ? value.toString()
        : value,
  )
}
