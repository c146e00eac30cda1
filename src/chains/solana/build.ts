import { utf8ToBytes } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { parseAddress } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import type { PaymentIntent } from '../match.ts'
import { MAX_TOKEN_UNITS, MAX_UNIT_PRICE, MAX_UNITS } from './fee.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  PROGRAMS,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAMS,
} from './programs.ts'
import { associatedTokenAccount } from './token-account.ts'
import { writeAccountOpened, writeTokenTransfer } from './token-instructions.ts'
import { writeTransaction } from './wire.ts'

/** The payment, and the state of the chain when it is built. */
export type SolanaBuildInput = Omit<PaymentIntent, 'maxFeeAtomic'> & {
  /** Base58, as `getLatestBlockhash` returns it. */
  blockhash: string
  unitLimit: number
  unitPriceMicroLamports: bigint
  /**
   * For a token: the program its mint belongs to, and whether the recipient's account must be
   * opened.
   */
  token?: { program: string; opensAccount: boolean }
}

const MAX_UINT64 = 2n ** 64n - 1n

/** The roles of accounts in a transaction, in the order a message requires. */
const ROLES = ['writable_signer', 'readonly_signer', 'writable', 'readonly'] as const
type Role = (typeof ROLES)[number]
type Plan = { program: string; accounts: readonly (readonly [string, Role])[]; data: Uint8Array }

/**
 * The unsigned v0 transaction of a payment, with zeroed signatures; the sender or another fee payer pays
 * the fee:
 * `[SetComputeUnitLimit, SetComputeUnitPrice, System transfer, Memo(paymentId)]` in SOL,
 * `[SetComputeUnitLimit, SetComputeUnitPrice, CreateIdempotent?, Memo(paymentId), TransferChecked]`
 * in a token,
 * `[SetComputeUnitLimit, SetComputeUnitPrice, TransferChecked, Memo(paymentId)]` in a token whose
 * transfer has another fee payer (scheme_exact_svm.md).
 * @throws RangeError when this chain cannot carry the intent; callers check intents first
 */
export function buildPayment(input: SolanaBuildInput): Uint8Array {
  refuseUnpayable(input)
  const { sender, paymentId, unitLimit, unitPriceMicroLamports } = input
  const memo: Plan = { program: MEMO_PROGRAM, accounts: [], data: utf8ToBytes(paymentId) }
  const plans: Plan[] = [
    {
      program: COMPUTE_BUDGET_PROGRAM,
      accounts: [],
      data: Uint8Array.from([2, ...littleEndian(BigInt(unitLimit), 4)]),
    },
    {
      program: COMPUTE_BUDGET_PROGRAM,
      accounts: [],
      data: Uint8Array.from([3, ...littleEndian(unitPriceMicroLamports, 8)]),
    },
    // A Token-2022 account may require a memo right before every transfer to it.
    ...(input.token
      ? [...planTokenTransfer(input, input.token, memo)]
      : [planTransfer(input), memo]),
  ]
  const keys = orderKeys(input.feePayer ?? sender, plans)
  const indexOf = (key: string) => keys.findIndex(([address]) => address === key)
  const signers = keys.filter(
    ([, role]) => role === 'writable_signer' || role === 'readonly_signer',
  ).length
  return writeTransaction({
    signatures: Array.from({ length: signers }, () => new Uint8Array(64)),
    message: {
      version: 0,
      requiredSignatures: signers,
      readonlySigned: keys.filter(([, role]) => role === 'readonly_signer').length,
      readonlyUnsigned: keys.filter(([, role]) => role === 'readonly').length,
      keys: keys.map(([key]) => bs58.decode(key)),
      blockhash: bs58.decode(input.blockhash),
      instructions: plans.map(({ program, accounts, data }) => ({
        program: indexOf(program),
        accounts: accounts.map(([key]) => indexOf(key)),
        data,
      })),
    },
  })
}

function planTransfer({ sender, recipient, amountAtomic }: SolanaBuildInput): Plan {
  return {
    program: SYSTEM_PROGRAM,
    accounts: [
      [sender, 'writable_signer'],
      [recipient, 'writable'],
    ],
    data: Uint8Array.from([...littleEndian(2n, 4), ...littleEndian(amountAtomic, 8)]),
  }
}

function planTokenTransfer(
  { sender, feePayer, recipient, asset, amountAtomic }: SolanaBuildInput,
  { program, opensAccount }: { program: string; opensAccount: boolean },
  memo: Plan,
): Plan[] {
  const accountOf = (owner: string) =>
    associatedTokenAccount({ owner, mint: asset.address, program }).address
  const [source, destination] = [accountOf(sender), accountOf(recipient)]
  const opened: Plan = {
    program: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      [sender, 'writable_signer'],
      [destination, 'writable'],
      [recipient, 'readonly'],
      [asset.address, 'readonly'],
      [SYSTEM_PROGRAM, 'readonly'],
      [program, 'readonly'],
    ],
    data: writeAccountOpened(),
  }
  const transfer: Plan = {
    program,
    accounts: [
      [source, 'writable'],
      [asset.address, 'readonly'],
      [destination, 'writable'],
      [sender, feePayer === undefined ? 'writable_signer' : 'readonly_signer'],
    ],
    data: writeTokenTransfer(amountAtomic, asset.decimals),
  }
  if (feePayer !== undefined) return [transfer, memo]
  return [...(opensAccount ? [opened] : []), memo, transfer]
}

/**
 * Each account once, in its strongest role: the fee payer first, then other signers, then accounts
 * that are written, then those only read or called.
 */
function orderKeys(feePayer: string, plans: readonly Plan[]): [string, Role][] {
  const roles = new Map<string, Role>([[feePayer, 'writable_signer']])
  for (const { program, accounts } of plans) {
    for (const [key, role] of [...accounts, [program, 'readonly'] as const]) {
      const known = roles.get(key)
      if (known === undefined || ROLES.indexOf(role) < ROLES.indexOf(known)) roles.set(key, role)
    }
  }
  return [...roles].toSorted(([, a], [, b]) => ROLES.indexOf(a) - ROLES.indexOf(b))
}

function refuseUnpayable(input: SolanaBuildInput): void {
  const {
    network,
    asset,
    sender,
    feePayer,
    recipient,
    amountAtomic,
    blockhash,
    unitLimit,
    unitPriceMicroLamports,
    token,
  } = input
  if (familyOf(network) !== 'solana') throw new RangeError(`${network} is not a Solana network.`)
  if (asset.native !== (token === undefined))
    throw new RangeError(
      `${asset.symbol} is paid ${asset.native ? 'by the System Program' : 'by a token program'}.`,
    )
  if (token && !TOKEN_PROGRAMS.includes(token.program))
    throw new RangeError(`${token.program} is not a token program.`)
  for (const key of [sender, feePayer ?? sender, recipient, blockhash, asset.address]) {
    const parsed = parseAddress(key)
    if (!parsed.ok || parsed.family !== 'solana')
      throw new RangeError(`${key} is not base58 of 32 bytes.`)
  }
  if (sender === recipient) throw new RangeError('The sender pays itself.')
  if (feePayer === sender) throw new RangeError('The fee payer must not be the sender.')
  // A fee payer signs the transaction it is given, so it must let nobody open accounts with its
  // money.
  if (feePayer !== undefined && token?.opensAccount)
    throw new RangeError('A transfer with another fee payer opens no account.')
  if (PROGRAMS.has(sender) || PROGRAMS.has(recipient))
    throw new RangeError('A program neither pays nor is paid.')
  if (token && (recipient === asset.address || sender === asset.address))
    throw new RangeError('A mint neither pays nor is paid.')
  if (amountAtomic <= 0n || amountAtomic > MAX_UINT64)
    throw new RangeError('The amount does not fit 64 bits, or moves nothing.')
  const maxUnits = token ? MAX_TOKEN_UNITS : MAX_UNITS
  if (!Number.isInteger(unitLimit) || unitLimit <= 0 || unitLimit > maxUnits)
    throw new RangeError(`The compute limit is not within 1 to ${maxUnits}.`)
  if (unitPriceMicroLamports < 0n || unitPriceMicroLamports > MAX_UNIT_PRICE)
    throw new RangeError(`The compute price is not within 0 to ${MAX_UNIT_PRICE}.`)
}

function littleEndian(value: bigint, bytes: number): number[] {
  return Array.from({ length: bytes }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn))
}
